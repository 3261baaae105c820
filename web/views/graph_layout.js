// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * A layered layout: each layer is a row, ordered so that few calls cross, with boxes near those that call them.
 */

export const BOX = { width: 190, height: 46, gapX: 22, gapY: 62, margin: 14 };
const SWEEPS = 8;

function rowsOf(layers) {
	const numbers = [...new Set(layers.values())].sort((a, b) => a - b);
	return numbers.map((number) => [...layers].filter(([, layer]) => layer === number).map(([frame]) => frame));
}

/* The wanted place of a frame: the mean place of its neighbours, by weight. */
function wantedPlace(frame, places, links) {
	let sum = 0, weight = 0;
	for (const { other, size } of links.get(frame) ?? []) {
		sum += places.get(other) * size;
		weight += size;
	}
	return weight ? sum / weight : places.get(frame);
}

function linksOf(edges) {
	const links = new Map();
	const add = (frame, other, size) =>
		(links.get(frame) ?? links.set(frame, []).get(frame)).push({ other, size });
	for (const { from, to, value, base } of edges) {
		const size = Math.max(Math.abs(value), Math.abs(base)) || 1;
		if (from === to)
			continue;
		add(from, to, size);
		add(to, from, size);
	}
	return links;
}

/* Places the frames of a row near their wanted places, in this order and without overlap. The mean is kept. */
function spread(row, wanted, places) {
	const step = BOX.width + BOX.gapX;
	let last = -Infinity, shift = 0;
	for (const frame of row) {
		const x = Math.max(wanted.get(frame), last + step);
		shift += wanted.get(frame) - x;
		places.set(frame, x);
		last = x;
	}
	for (const frame of row)
		places.set(frame, places.get(frame) + shift / row.length);
}

/**
 * @param {Map<number, number>} layers frame to layer
 * @param {{from, to, value, base}[]} edges
 * @returns {{places: Map<number, {x, y}>, width, height}} the upper left corners of the boxes
 */
export function layOut(layers, edges) {
	const rows = rowsOf(layers), links = linksOf(edges), xs = new Map();
	const step = BOX.width + BOX.gapX;
	for (const row of rows)
		row.forEach((frame, i) => xs.set(frame, (i - (row.length - 1) / 2) * step));
	for (let sweep = 0; sweep < SWEEPS; sweep++) {
		for (const row of sweep % 2 ? [...rows].reverse() : rows) {
			const wanted = new Map(row.map((frame) => [frame, wantedPlace(frame, xs, links)]));
			row.sort((a, b) => wanted.get(a) - wanted.get(b));
			spread(row, wanted, xs);
		}
	}
	const left = Math.min(...xs.values());
	const places = new Map();
	rows.forEach((row, i) => row.forEach((frame) => places.set(frame, {
		x: xs.get(frame) - left + BOX.margin,
		y: i * (BOX.height + BOX.gapY) + BOX.margin,
	})));
	return {
		places,
		width: Math.max(...xs.values()) - left + BOX.width + 2 * BOX.margin,
		height: rows.length * (BOX.height + BOX.gapY) - BOX.gapY + 2 * BOX.margin,
	};
}
