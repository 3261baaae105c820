// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/** Draws the visible boxes of a flame graph on a canvas: fills first, then names, then outlines. */
import { visible } from '../dom.js';
import { forVisible } from './layout.js';

export const ROW = 19;
const FONT_PIXELS = 12;
const MIN_TEXT_PIXELS = 22;
const PAD = 4;
const MAX_NAME = 240; /* characters that are measured and drawn */

/** The names of frames as drawn, and their widths. Each is measured once. */
export class NameCache {
	constructor(frames) {
		this.frames = frames;
		this.names = new Array(frames.count);
		this.widths = new Float32Array(frames.count);
	}

	name(frame) {
		return this.names[frame] ??= visible(this.frames.name[frame].slice(0, MAX_NAME));
	}

	width(context, frame) {
		return this.widths[frame] ||= context.measureText(this.name(frame)).width + 0.01;
	}

	/* The part of the name that fits. */
	fitted(context, frame, room) {
		const name = this.name(frame), width = this.width(context, frame);
		if (width <= room)
			return name;
		const count = Math.floor(name.length * room / width) - 1;
		return count > 1 ? `${name.slice(0, count)}…` : '';
	}
}

/** Sizes a canvas in CSS pixels, at the resolution of the screen. */
export function sizeCanvas(canvas, width, height) {
	const ratio = window.devicePixelRatio || 1;
	const pixels = [Math.round(width * ratio), Math.round(height * ratio)];
	if (canvas.width !== pixels[0] || canvas.height !== pixels[1])
		[canvas.width, canvas.height] = pixels;
	canvas.style.width = `${width}px`;
	canvas.style.height = `${height}px`;
	const context = canvas.getContext('2d', { alpha: false });
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	return context;
}

/** The visible boxes, in columns that are reused for each drawing. */
class Boxes {
	constructor() {
		this.count = 0;
		this.node = new Uint32Array(4096);
		this.x = new Float32Array(4096);
		this.width = new Float32Array(4096);
	}

	add(node, x, width) {
		if (this.count === this.node.length)
			this.#grow();
		this.node[this.count] = node;
		this.x[this.count] = x;
		this.width[this.count++] = width;
	}

	#grow() {
		for (const name of ['node', 'x', 'width']) {
			const larger = new this[name].constructor(this[name].length * 2);
			larger.set(this[name]);
			this[name] = larger;
		}
	}
}

const boxes = new Boxes();

/**
 * @param {CanvasRenderingContext2D} context
 * @param {object} scene tree, starts, range, palette, names, marks (or null), cursor, hover (nodes or -1),
 *        top (pixels scrolled away), width, height, rowOf(depth), zoomed (the node that fills the width),
 *        colours {surface, match, focus, text}, font
 */
export function paint(context, scene) {
	const { tree, width, height, top } = scene;
	const a = scene.depthAt(top), b = scene.depthAt(top + height);
	boxes.count = 0;
	forVisible(tree, scene.starts, scene.range, width, Math.min(a, b), Math.max(a, b),
		(node, x, w) => boxes.add(node, x, w));
	context.fillStyle = scene.colours.surface;
	context.fillRect(0, 0, width, height);
	fillBoxes(context, scene);
	writeNames(context, scene);
	outline(context, scene, scene.hover, scene.colours.text, 1);
	if (scene.focused)
		outline(context, scene, scene.cursor, scene.colours.focus, 2);
}

function fillBoxes(context, scene) {
	const { tree, palette, marks, top, rowOf } = scene;
	for (let i = 0; i < boxes.count; i++) {
		const node = boxes.node[i], y = rowOf(tree.depth[node]) - top;
		const matched = marks?.[tree.frame[node]];
		context.globalAlpha = (marks && !matched) || node < scene.zoomed ? 0.45 : 1;
		context.fillStyle = matched ? scene.colours.match : palette.fills[palette.index(tree, node)];
		context.fillRect(boxes.x[i], y, Math.max(boxes.width[i] - 1, 0.5), ROW - 1);
	}
	context.globalAlpha = 1;
}

function writeNames(context, scene) {
	const { tree, names, marks, palette, top, rowOf } = scene;
	context.font = `${FONT_PIXELS}px ${scene.font}`;
	context.textBaseline = 'middle';
	for (let i = 0; i < boxes.count; i++) {
		if (boxes.width[i] < MIN_TEXT_PIXELS)
			continue;
		const node = boxes.node[i], frame = tree.frame[node], room = boxes.width[i] - 2 * PAD;
		const text = names.fitted(context, frame, room);
		context.fillStyle = marks?.[frame] ? scene.colours.onMatch :
			marks || node < scene.zoomed ? scene.colours.text : palette.text;
		if (text)
			context.fillText(text, boxes.x[i] + PAD, rowOf(tree.depth[node]) - top + ROW / 2, room);
	}
}

function outline(context, scene, node, colour, width) {
	for (let i = 0; i < boxes.count && node >= 0; i++) {
		if (boxes.node[i] !== node)
			continue;
		context.strokeStyle = colour;
		context.lineWidth = width;
		context.strokeRect(boxes.x[i] + width / 2, scene.rowOf(scene.tree.depth[node]) - scene.top + width / 2,
			Math.max(boxes.width[i] - 1 - width, 1), ROW - 1 - width);
		return;
	}
}
