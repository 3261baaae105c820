// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * Where the profile that is shown comes from: the daemon, asked as the state says, or a file that the user opened.
 * The same holds for the baseline of a comparison.
 */
import { decodeProfile } from '../profile/profile.js';
import { diff, select } from '../profile/aggregate.js';
import { getBytes } from './daemon.js';
import { parseInterval } from './state.js';

const FILTERS = { pid: 'pid', comm: 'comm', unit: 'unit', container: 'container', thread: 'tid' };
export const DEFAULT_LAST = '1m';
/** Kinds of profile that have waits. */
export const WITH_WAITS = ['offcpu', 'wall'];

/** The query of /profile for a state; `range` replaces its interval. */
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
	if (state.work === '0' && WITH_WAITS.includes(state.kind))
		query.set('waiting_for_work', '0');
	return `profile?${query}`;
}

/** The interval that a profile covers, as parameters of /profile. */
export function intervalOf({ timeNanos, durationNanos }) {
	return { from: (timeNanos / 1e9).toFixed(3), to: ((timeNanos + durationNanos) / 1e9).toFixed(3) };
}

export class Source {
	#abort = null;

	constructor() {
		this.shown = null;    // {profile, address} or {profile, name}
		this.baseline = null; // likewise
	}

	/** Whether the profile shown is from a file and not from the daemon. */
	get isFile() {
		return Boolean(this.shown?.name);
	}

	/**
	 * Fetches what the state asks for.
	 * @returns {Promise<boolean>} false: another request replaced this one
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

	/* An interval in the past does not change, so it is fetched once. */
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

	/** Profiles the next seconds; `signal` cancels. Returns the interval that the profile covers. */
	async capture(state, seconds, signal) {
		this.cancel();
		const bytes = await getBytes(profileAddress(state, { seconds }), { signal });
		const profile = await decodeProfile(bytes), interval = intervalOf(profile);
		this.shown = { address: profileAddress(state, interval), bytes, profile };
		this.baseline = null;
		return interval;
	}

	/** Shows a file, or with asBaseline compares the profile shown with it. */
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

	/** Drops the file; the caller then calls load(). */
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

	/* Filters apply to files only: the daemon has filtered its answer, and also knows containers by name. */
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
			native: state.native !== '0',
		};
	}

	/* Scales the baseline to the length of the interval shown. */
	#scale() {
		const now = this.shown.profile.durationNanos, base = this.baseline.profile.durationNanos;
		return now && base ? now / base : 1;
	}
}
