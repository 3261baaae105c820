// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * Colours of boxes, as an index for each node into a list of fills: by binary, by kind, by value, or by
 * what changed. Fills are light under dark text, or dark under light text; red and blue are told apart
 * by everybody, and the sign is written wherever a number is.
 */
import { KINDS, PROCESS, OTHER } from '../profile/kinds.js';

const HUES = 24;
const SHADES = 3;
const STEPS = 16; /* of a scale, each side of its middle */
const KIND_HUES = [32, 212, 285, 150, 75, 0, 0];

function hash(text) {
	let value = 0x811c9dc5;
	for (let i = 0; i < text.length; i++)
		value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
	return (value ^ (value >>> 15)) >>> 0;
}

/* A colour in shades, so that functions of one colour beside each other are told apart. */
function shades(hue, saturation, dark) {
	return Array.from({ length: SHADES }, (_, i) => (dark ?
		`hsl(${hue} ${saturation * 0.62}% ${28 + 3 * i}%)` :
		`hsl(${hue} ${saturation}% ${74 + 4 * i}%)`));
}

function greys(dark) {
	return shades(220, 8, dark);
}

/* A number for each frame, of a colour and of the shade that its name has. */
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

/* From pale to strong: what a frame has itself, of the most that any has. */
const BY_VALUE = {
	fills: (dark) => Array.from({ length: STEPS + 1 }, (_, i) => {
		const part = i / STEPS;
		return dark ? `hsl(${45 - 35 * part} ${12 + 58 * part}% ${26 + 8 * part}%)` :
			`hsl(${48 - 30 * part} ${30 + 65 * part}% ${90 - 20 * part}%)`;
	}),
	index(model) {
		/* What a process has is not its own but its functions'. */
		const { kind } = model.frames;
		const self = model.frames.self.map((value, frame) =>
			(frame && kind[frame] !== PROCESS ? Math.max(0, value) : 0));
		const most = self.reduce((max, value) => Math.max(max, value), 0) || 1;
		return (tree, node) => Math.round(STEPS * Math.sqrt(self[tree.frame[node]] / most));
	},
};

/* Blue is less, red is more, as a part of the larger of both. */
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

const SCHEMES = { binary: BY_BINARY, kind: BY_KIND, value: BY_VALUE };

/**
 * @param {Model} model
 * @param {string} scheme binary, kind or value; a diff always is by change
 * @returns {{fills: string[], text: string, index: (tree, node) => number}}
 */
export function paletteOf(model, scheme, dark) {
	const chosen = model.isDiff ? BY_CHANGE : SCHEMES[scheme] ?? BY_BINARY;
	return {
		fills: chosen.fills(dark),
		text: dark ? '#f4f4f6' : '#16181d',
		index: chosen.index(model),
	};
}

/** What the colours mean, for a legend: [{label, fill}]; [] where it goes without saying. */
export function legendOf(model, scheme, dark) {
	if (model.isDiff) {
		const fills = BY_CHANGE.fills(dark);
		return [
			{ label: 'less than the base', fill: fills[0] },
			{ label: 'the same', fill: fills[STEPS] },
			{ label: 'more', fill: fills.at(-1) },
		];
	}
	if (scheme !== 'kind')
		return [];
	const fills = BY_KIND.fills(dark), seen = new Set(model.frames.kind.slice(1));
	return KINDS.map((label, kind) => ({ label, fill: fills[kind * SHADES + 1], kind }))
		.filter(({ kind }) => seen.has(kind));
}

/** Colours of a call graph's boxes: pale to strong by total, or by what changed. */
export function graphPalette(model, dark) {
	const { total, baseTotal } = model.frames, text = dark ? '#f4f4f6' : '#16181d';
	const fills = (model.isDiff ? BY_CHANGE : BY_VALUE).fills(dark);
	const asTree = { total, baseTotal };
	const index = model.isDiff ? BY_CHANGE.index() : (_, frame) =>
		Math.round(STEPS * Math.sqrt(Math.max(0, total[frame] / (model.total || 1))));
	return (frame) => ({ fill: fills[index(asTree, frame)], text });
}
