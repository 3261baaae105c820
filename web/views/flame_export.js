// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/** A flame graph as a picture: the whole of the zoomed node, whatever part of it the screen shows. */
import { svg, visible } from '../dom.js';
import { nodeFacts } from './describe.js';
import { ROW, paint, sizeCanvas } from './flame_paint.js';
import { forVisible } from './layout.js';

const WIDTH = 1200;
const MAX_HEIGHT = 16000; /* pixels: browsers allow no taller canvas */
const CHARACTER = 6.6; /* pixels, on average: the font of the picture is unknown */

function title(model, tree, node) {
	const facts = nodeFacts(model, tree, node).map(([label, text]) => `${label} ${text}`);
	return [visible(model.frames.name[tree.frame[node]]), ...facts].join('\n');
}

/* The depth of the deepest node in the range shown. */
function depthOf(chart) {
	let last = 0;
	forVisible(chart.tree, chart.starts, chart.range, WIDTH, 0, Infinity, (node) => {
		last = Math.max(last, chart.tree.depth[node]);
	});
	return last;
}

/** @returns {string} a complete SVG file without scripts */
export function flameSvg(model, chart, look) {
	const { tree, starts } = chart, rows = depthOf(chart) + 1, groups = [];
	forVisible(tree, starts, chart.rangeOf(chart.zoomed), WIDTH, 0, Infinity, (node, x, width) => {
		const depth = tree.depth[node], y = (look.upwards ? rows - 1 - depth : depth) * ROW;
		const frame = tree.frame[node], name = visible(model.frames.name[frame]);
		const room = Math.floor((width - 6) / CHARACTER);
		const fill = look.marks?.[frame] ? look.colours.match :
			look.palette.fills[look.palette.index(tree, node)];
		groups.push(svg('g', {}, svg('title', {}, title(model, tree, node)),
			svg('rect', { x: x.toFixed(2), y, width: Math.max(width - 1, 0.5).toFixed(2),
				height: ROW - 1, fill }),
			room < 3 ? null : svg('text', { x: (x + 3).toFixed(2), y: y + 13, fill: look.palette.text },
				name.length > room ? `${name.slice(0, room - 1)}…` : name)));
	});
	const picture = svg('svg', {
		width: WIDTH, height: rows * ROW, viewBox: `0 0 ${WIDTH} ${rows * ROW}`,
		'font-family': 'sans-serif', 'font-size': 12,
	}, svg('rect', { width: WIDTH, height: rows * ROW, fill: look.colours.surface }), groups);
	return new XMLSerializer().serializeToString(picture);
}

/** @returns {Promise<Blob>} */
export function flamePng(model, chart, look) {
	const rows = depthOf(chart) + 1, height = Math.min(rows * ROW, MAX_HEIGHT);
	const canvas = document.createElement('canvas');
	const rowOf = (depth) => (look.upwards ? rows - 1 - depth : depth);
	paint(sizeCanvas(canvas, WIDTH, height), {
		...look, tree: chart.tree, starts: chart.starts, range: chart.rangeOf(chart.zoomed),
		names: chart.names, cursor: -1, hover: -1, zoomed: chart.zoomed, top: 0, width: WIDTH, height,
		rowOf: (depth) => rowOf(depth) * ROW, depthAt: (y) => rowOf(Math.floor(y / ROW)),
	});
	return new Promise((resolve) => { canvas.toBlob(resolve, 'image/png'); });
}
