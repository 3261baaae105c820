// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * Colours of boxes: for each node an index into a list of fills, by binary, by kind, by value or by change. Fills
 * are light with dark text or dark with light text. Red and blue differ for people with any colour vision, and
 * numbers are written with their sign.
 */
import { KINDS, PROCESS, OTHER } from '../profile/kinds.js';
import { STATES } from '../profile/states.js';

const HUES = 24;
const SHADES = 3;
const STEPS = 16; /* of a scale, on each side of its middle */
/* By number of STATES: hue and saturation. What only waits for work is pale. */
const STATE_COLOURS = [[220, 8], [130, 58], [0, 78], [285, 60], [32, 72], [185, 62], [212, 66], [60, 40], [220, 24], [220, 14]];
const KIND_HUES = [32, 212, 285, 150, 75, 0, 0];

function hash(text) {
	let value = 0x811c9dc5;
	for (let i = 0; i < text.length; i++)
		value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
	return (value ^ (value >>> 15)) >>> 0;
}

/* Shades of one colour, so that neighbouring functions of the same colour differ. */
function shades(hue, saturation, dark) {
	return Array.from({ length: SHADES }, (_, i) => (dark ?
		`hsl(${hue} ${saturation * 0.62}% ${28 + 3 * i}%)` :
		`hsl(${hue} ${saturation}% ${74 + 4 * i}%)`));
}

function greys(dark) {
	return shades(220, 8, dark);
}

/* An index for each frame: its colour by colourOf(), its shade by the hash of its name. */
function shadedIndex({ name }, colourOf) {
	const byFrame = Uint16Array.from(name, (text, frame) =>
		colourOf(frame) * SHADES + (hash(text) % SHADES));
	return (tree, node) => byFrame[tree.frame[node]];
}

const BY_BINARY = {
	fills: (dark) => [greys(dark), ...Array.from({ length: HUES }, (_, i) =>
		shades((i * 360) / HUES, 62, dark))].flat(),
	index({ frames }) {
		const { binary, kind } = frames;
		return shadedIndex(frames, (frame) =>
			(!binary[frame] || kind[frame] === OTHER ? 0 : 1 + (hash(binary[frame]) % HUES)));
	},
};

const BY_KIND = {
	fills: (dark) => KINDS.flatMap((_, kind) => (kind === PROCESS || kind === OTHER ? greys(dark) :
		shades(KIND_HUES[kind], 66, dark))),
	index: ({ frames }) => shadedIndex(frames, (frame) => frames.kind[frame]),
};

const BY_STATE = {
	fills: (dark) => STATE_COLOURS.flatMap(([hue, saturation]) => shades(hue, saturation, dark)),
	index({ frames }) {
		const shade = Uint8Array.from(frames.name, (text) => hash(text) % SHADES);
		return (tree, node) => (tree.state?.[node] ?? 0) * SHADES + shade[tree.frame[node]];
	},
};

/* From pale to strong by the frame's self, relative to the largest self of any frame. */
const BY_VALUE = {
	fills: (dark) => Array.from({ length: STEPS + 1 }, (_, i) => {
		const part = i / STEPS;
		return dark ? `hsl(${45 - 35 * part} ${12 + 58 * part}% ${26 + 8 * part}%)` :
			`hsl(${48 - 30 * part} ${30 + 65 * part}% ${90 - 20 * part}%)`;
	}),
	index(model) {
		/* The self of a process's frame is the samples of its functions, so it is not counted. */
		const { kind } = model.frames;
		const self = model.frames.self.map((value, frame) =>
			(frame && kind[frame] !== PROCESS ? Math.max(0, value) : 0));
		const most = self.reduce((max, value) => Math.max(max, value), 0) || 1;
		return (tree, node) => Math.round(STEPS * Math.sqrt(self[tree.frame[node]] / most));
	},
};

/* Blue for less, red for more, relative to the larger of the two values. */
const BY_CHANGE = {
	fills: (dark) => Array.from({ length: 2 * STEPS + 1 }, (_, i) => {
		const part = Math.abs(i - STEPS) / STEPS, hue = i < STEPS ? 215 : 8;
		return dark ? `hsl(${hue} ${72 * part}% ${30 + 6 * part}%)` :
			`hsl(${hue} ${88 * part}% ${88 - 14 * part}%)`;
	}),
	index: () => (tree, node) => {
		const now = tree.total[node], base = tree.baseTotal[node];
		const most = Math.max(Math.abs(now), Math.abs(base)) || 1;
		return STEPS + Math.round(STEPS * Math.max(-1, Math.min(1, (now - base) / most)));
	},
};

const SCHEMES = { binary: BY_BINARY, kind: BY_KIND, value: BY_VALUE, state: BY_STATE };

/* Without a choice it is by state where there are several. */
function schemeOf(model, chosen) {
	if (SCHEMES[chosen])
		return chosen;
	return new Set(model.tree.state).size > 1 ? 'state' : 'binary';
}

/**
 * @param {Model} model
 * @param {string} scheme binary, kind, value or state; a diff is always coloured by change
 * @returns {{fills: string[], text: string, index: (tree, node) => number}}
 */
export function paletteOf(model, scheme, dark) {
	const chosen = model.isDiff ? BY_CHANGE : SCHEMES[schemeOf(model, scheme)];
	return {
		fills: chosen.fills(dark),
		text: dark ? '#f4f4f6' : '#16181d',
		index: chosen.index(model),
	};
}

/** The legend: [{label, fill}]; [] for schemes without one. */
export function legendOf(model, scheme, dark) {
	if (model.isDiff) {
		const fills = BY_CHANGE.fills(dark);
		return [
			{ label: 'less than the base', fill: fills[0] },
			{ label: 'the same', fill: fills[STEPS] },
			{ label: 'more', fill: fills.at(-1) },
		];
	}
	const chosen = schemeOf(model, scheme);
	if (chosen !== 'state' && chosen !== 'kind')
		return [];
	const [labels, shown] = chosen === 'state' ? [STATES, model.tree.state] : [KINDS, model.frames.kind.slice(1)];
	const fills = SCHEMES[chosen].fills(dark), seen = new Set(shown);
	return labels.map((label, kind) => ({ label, fill: fills[kind * SHADES + 1], kind }))
		.filter(({ kind }) => seen.has(kind));
}

/** Colours of a call graph's boxes: pale to strong by total, or by change. */
export function graphPalette(model, dark) {
	const { total, baseTotal } = model.frames, text = dark ? '#f4f4f6' : '#16181d';
	const fills = (model.isDiff ? BY_CHANGE : BY_VALUE).fills(dark);
	const asTree = { total, baseTotal };
	const index = model.isDiff ? BY_CHANGE.index() : (_, frame) =>
		Math.round(STEPS * Math.sqrt(Math.max(0, total[frame] / (model.total || 1))));
	return (frame) => ({ fill: fills[index(asTree, frame)], text });
}
