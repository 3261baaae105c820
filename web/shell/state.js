// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * The state of the page, kept in the fragment of its address, so that a link shows the same view. README.md
 * describes each key.
 */

export const KEYS = [
	'view', 'kind', 'type', 'last', 'from', 'to', 'base', 'live',
	'pid', 'comm', 'unit', 'container', 'thread', 'work',
	'kernel', 'native', 'loops', 'by', 'search', 'focus', 'zoom', 'invert', 'colour', 'sort', 'theme',
];

/** Keys whose change requires another profile from the daemon. */
export const FETCHED = ['kind', 'last', 'from', 'to', 'base', 'pid', 'comm', 'unit', 'container', 'thread', 'work'];
/** Keys whose change requires the same profile to be aggregated again. */
export const SELECTED = ['type', 'kernel', 'native', 'loops', 'by'];

const NUMBERS = { from: 1e11, to: 1e11, pid: 4194304, thread: 4194304 };
const DURATION = /^(?=\d)(\d+h)?(\d+m)?(\d+s?)?$/;
const INTERVAL = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/;
const MAX_VALUE = 4096;

function valid(key, value) {
	if (key in NUMBERS)
		return /^\d+(\.\d+)?$/.test(value) && Number(value) <= NUMBERS[key];
	if (key === 'last')
		return DURATION.test(value);
	if (key === 'base')
		return INTERVAL.test(value);
	return value.length <= MAX_VALUE;
}

/** @returns {object} all keys; the value of an absent one is '' */
export function parseState(fragment) {
	const given = new URLSearchParams(fragment.replace(/^#/, ''));
	const state = {};
	for (const key of KEYS) {
		const value = given.get(key) ?? '';
		state[key] = value && valid(key, value) ? value : '';
	}
	if (!state.from !== !state.to)
		state.from = state.to = '';
	return Object.freeze(state);
}

export function formatState(state) {
	const kept = KEYS.filter((key) => state[key]).map((key) => [key, state[key]]);
	return kept.length ? `#${new URLSearchParams(kept)}` : '';
}

/** @returns {{from: number, to: number} | null} the interval that `base` names */
export function parseInterval(text) {
	const found = INTERVAL.exec(text);
	return found && Number(found[1]) < Number(found[2])
		? { from: Number(found[1]), to: Number(found[2]) } : null;
}

/** Seconds of a duration such as '1m30s'. */
export function parseDuration(text) {
	const units = { h: 3600, m: 60, s: 1, '': 1 };
	let seconds = 0;
	for (const [, number, unit] of text.matchAll(/(\d+)([hms]?)/g))
		seconds += Number(number) * units[unit];
	return seconds;
}

/** The state and its listeners: a change calls listener(changed keys, state). */
export class Store {
	#listeners = [];

	constructor() {
		this.state = parseState(location.hash);
		addEventListener('popstate', () => this.#become(parseState(location.hash)));
	}

	subscribe(listener) {
		this.#listeners.push(listener);
	}

	/** @param {{replace?: boolean}} options replace: no entry in the browser's history */
	set(change, { replace = false } = {}) {
		const text = Object.fromEntries(Object.entries(change).map(([key, value]) => [key, String(value ?? '')]));
		const next = parseState(formatState({ ...this.state, ...text }));
		const address = location.pathname + location.search + formatState(next);
		if (formatState(next) === formatState(this.state))
			return;
		history[replace ? 'replaceState' : 'pushState'](null, '', address);
		this.#become(next);
	}

	#become(next) {
		const changed = KEYS.filter((key) => next[key] !== this.state[key]);
		this.state = next;
		if (changed.length)
			this.#listeners.forEach((listener) => listener(changed, next));
	}
}
