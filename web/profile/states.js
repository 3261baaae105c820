// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/** What threads do in samples that have the label `state`: those of waits and of all time. */

/** By number, in the order of the legend. The first is for what has no such label, and for boxes of several. */
export const STATES = ['several', 'runs', 'wants a CPU', 'futex', 'disk', 'network', 'reads or writes', 'other waits', 'sleeps', 'poll'];
const [SEVERAL, RUNS, WANTS_CPU, FUTEX, DISK, NETWORK, READS, OTHER, SLEEPS, POLL] = STATES.keys();

const BY_STATE = { running: RUNS, runnable: WANTS_CPU, disk: DISK, stopped: OTHER, ready: WANTS_CPU, new: WANTS_CPU };
const BY_WAIT = { futex: FUTEX, page_fault: DISK, io_uring: DISK, socket: NETWORK, read: READS, write: READS, nanosleep: SLEEPS, poll: POLL };

/** A box has the state of so much of its time. */
const MOST = 2 / 3;

/** Number of the state of a sample with these labels. */
export function stateOf({ state, wait }) {
	if (!state || state === 'unknown')
		return SEVERAL;
	return BY_STATE[state] ?? BY_WAIT[wait] ?? OTHER;
}

/**
 * The state of each node. `times` has STATES.length values for each, which it changes.
 * @returns {Uint8Array}
 */
export function nodeStates(times, parent) {
	const width = STATES.length, states = new Uint8Array(parent.length);
	for (let node = parent.length - 1; node >= 0; node--) {
		const own = times.subarray(node * width, (node + 1) * width);
		const sum = own.reduce((total, time) => total + time, 0);
		states[node] = Math.max(own.findIndex((time) => time && time >= MOST * sum), SEVERAL);
		if (node)
			own.forEach((time, state) => { times[parent[node] * width + state] += time; });
	}
	return states;
}
