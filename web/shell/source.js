// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * Where the profile that is shown comes from: what the state asks of the daemon, or a file that somebody
 * opened. The baseline of a comparison likewise.
 */
import { decodeProfile } from '../profile/profile.js';
import { diff, select } from '../profile/aggregate.js';
import { getBytes } from './daemon.js';
import { parseInterval } from './state.js';

const FILTERS = { pid: 'pid', comm: 'comm', unit: 'unit', container: 'container', thread: 'tid' };
export const DEFAULT_LAST = '1m';

/** The query of /profile for a state; `range` stands in for its interval. */
export function profileAddress(state, range) {
	const query = new URLSearchParams();
	if (state.kind && state.kind !== 'cpu')
		query.set('type', state.kind);
	if (range)
		Object.entries(range).forEach(([name, value]) => query.set(name, value));
	else if (state.from)
		[['from', state.from], ['to', state.to]].forEach((pair) => query.set(...pair));
	else
		query.set('last', state.last || DEFAULT_LAST);
	for (const [key, parameter] of Object.entries(FILTERS))
		if (state[key])
			query.set(parameter, state[key]);
	return `profile?${query}`;
}

/** What a profile covers, as /profile is asked for it. */
export function intervalOf({ timeNanos, durationNanos }) {
	return { from: (timeNanos / 1e9).toFixed(3), to: ((timeNanos + durationNanos) / 1e9).toFixed(3) };
}

export class Source {
	#abort = null;

	constructor() {
		this.shown = null;    // {profile, address} or {profile, name}
		this.baseline = null; // the same
	}

	/** What is shown is a file, not the daemon's. */
	get isFile() {
		return Boolean(this.shown?.name);
	}

	/**
	 * Fetches what the state asks for.
	 * @returns {Promise<boolean>} false: something else was asked for meanwhile
	 */
	async load(state) {
		this.cancel();
		const abort = this.#abort = new AbortController();
		const base = parseInterval(state.base);
		try {
			const [shown, baseline] = await Promise.all([
				this.#fetch(profileAddress(state), abort, !state.from),
				base && this.#fetch(profileAddress(state, base), abort, false),
			]);
			if (abort.signal.aborted)
				return false;
			this.shown = shown;
			this.baseline = baseline;
			return true;
		} catch (error) {
			if (abort.signal.aborted)
				return false;
			throw error;
		} finally {
			if (this.#abort === abort)
				this.#abort = null;
		}
	}

	/* What lies in the past stays as it is, and is asked for once. */
	async #fetch(address, abort, moving) {
		const known = [this.shown, this.baseline].find((one) => one?.address === address);
		if (known && !moving)
			return known;
		const bytes = await getBytes(address, { signal: abort.signal });
		return { address, bytes, profile: await decodeProfile(bytes) };
	}

	get loading() {
		return this.#abort !== null;
	}

	cancel() {
		this.#abort?.abort();
		this.#abort = null;
	}

	/** Profiles the seconds to come; `signal` ends that. Returns the interval it covers. */
	async capture(state, seconds, signal) {
		this.cancel();
		const bytes = await getBytes(profileAddress(state, { seconds }), { signal });
		const profile = await decodeProfile(bytes), interval = intervalOf(profile);
		this.shown = { address: profileAddress(state, interval), bytes, profile };
		this.baseline = null;
		return interval;
	}

	/** Shows a file; as the baseline of the one shown, where asked. */
	async open(name, bytes, asBaseline = false) {
		this.cancel();
		const opened = { name, bytes, profile: await decodeProfile(bytes) };
		if (asBaseline) {
			this.baseline = opened;
		} else {
			this.shown = opened;
			this.baseline = null;
		}
	}

	/** Back to the daemon; load() is next. */
	close() {
		this.shown = this.baseline = null;
	}

	/** @returns {Model | null} */
	model(state) {
		if (!this.shown)
			return null;
		const now = select(this.shown.profile, this.#options(this.shown.profile, state));
		if (!this.baseline)
			return now;
		const options = this.#options(this.baseline.profile, state);
		return diff(select(this.baseline.profile, options), now, { scale: this.#scale() });
	}

	/* The daemon has filtered what it sent; of a container it knows the name, too. */
	#options(profile, state) {
		const named = profile.types.findIndex(({ type }) => type === state.type);
		const filters = this.isFile
			? Object.fromEntries(Object.keys(FILTERS).map((key) => [key, state[key]])) : {};
		return {
			valueIndex: named >= 0 ? named : profile.defaultType,
			filters,
			by: state.by || 'function',
			loops: state.loops === '1',
			kernel: state.kernel !== '0',
		};
	}

	/* Intervals of different lengths compare by what they used in the same time. */
	#scale() {
		const now = this.shown.profile.durationNanos, base = this.baseline.profile.durationNanos;
		return now && base ? now / base : 1;
	}
}
