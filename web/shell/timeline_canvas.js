// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * Draws the timeline: CPU use by process or thread, stacked for each step, and the chosen intervals.
 */
import { visible } from '../dom.js';
import { clockTime } from './timeline_data.js';

export const AXIS = 18; // pixels: height of the time axis at the bottom
const TICKS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600];
const TICK_WIDTH = 70;

/** Resizes the canvas to its box, in device pixels. Returns its context, scaled to CSS pixels. */
export function prepare(canvas) {
	const ratio = devicePixelRatio || 1;
	const { clientWidth: width, clientHeight: height } = canvas;
	if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
	}
	const context = canvas.getContext('2d');
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	context.clearRect(0, 0, width, height);
	return { context, width, height };
}

/** The times that label an axis of `seconds` on `width` pixels. */
export function ticksOf(from, seconds, width) {
	const every = TICKS.find((tick) => tick / seconds * width >= TICK_WIDTH) ?? TICKS.at(-1);
	const ticks = [];
	for (let at = Math.ceil(from / every) * every; at < from + seconds; at += every)
		ticks.push(at);
	return ticks;
}

export function drawAxis(context, colours, { from, seconds, width, height }) {
	context.font = `11px ${colours.css('--sans')}`;
	context.textBaseline = 'bottom';
	for (const at of ticksOf(from, seconds, width)) {
		const x = (at - from) / seconds * width;
		context.fillStyle = colours.css('--line');
		context.fillRect(Math.round(x), height - AXIS, 1, 4);
		context.fillStyle = colours.css('--dim');
		const text = clockTime(at), size = context.measureText(text).width;
		if (x + size + 4 < width)
			context.fillText(text, x + 3, height - 1);
	}
}

function drawBars(context, colours, data, { width, bottom }) {
	const most = Math.max(data.cpus, ...data.sum);
	const columns = [...data.series.map(({ cpus }, i) => [cpus, `--series-${i}`]), [data.other, '--series-other']];
	const base = new Float64Array(data.steps);
	for (const [values, colour] of columns) {
		context.fillStyle = colours.css(colour);
		for (let step = 0; step < data.steps; step++) {
			if (!values[step])
				continue;
			const left = Math.round(step / data.steps * width);
			const right = Math.round((step + 1) / data.steps * width);
			const low = bottom - base[step] / most * bottom;
			base[step] += values[step];
			const high = bottom - base[step] / most * bottom;
			context.fillRect(left, high, Math.max(right - left, 1), low - high);
		}
	}
}

function drawInterval(context, colours, interval, place, { fill, edge, dashed }) {
	if (!interval)
		return;
	const left = Math.max(place(interval.from), 0), right = Math.max(place(interval.to), left + 1);
	const { height } = place;
	context.fillStyle = colours.css(fill);
	context.fillRect(left, 0, right - left, height);
	context.strokeStyle = colours.css(edge);
	context.setLineDash(dashed ? [4, 3] : []);
	context.lineWidth = 2;
	for (const x of [left, right]) {
		context.beginPath();
		context.moveTo(x, 0);
		context.lineTo(x, height);
		context.stroke();
	}
	context.setLineDash([]);
}

/** @param {{chosen, base, dragged, cursor}} marks intervals in seconds; cursor is a step */
export function drawTimeline(canvas, colours, data, marks) {
	const { context, width, height } = prepare(canvas);
	const bottom = height - AXIS, seconds = data.end - data.from;
	const place = Object.assign((at) => (at - data.from) / seconds * width, { height: bottom });
	drawBars(context, colours, data, { width, bottom });
	drawAxis(context, colours, { from: data.from, seconds, width, height });
	drawInterval(context, colours, marks.base, place, { fill: '--based', edge: '--warn', dashed: true });
	drawInterval(context, colours, marks.chosen, place, { fill: '--chosen', edge: '--accent' });
	drawInterval(context, colours, marks.dragged, place, { fill: '--chosen', edge: '--focus', dashed: true });
	if (marks.cursor !== null) {
		context.fillStyle = colours.css('--text');
		context.fillRect(Math.round((marks.cursor + 0.5) / data.steps * width), 0, 1, bottom);
	}
	context.fillStyle = colours.css('--dim');
	context.textBaseline = 'top';
	context.font = `11px ${colours.css('--sans')}`;
	context.fillText(visible(`${data.cpus} CPUs`), 4, 3);
}
