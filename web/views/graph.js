// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/** The call graph around one frame: boxes show totals, arrows the value that passes over each call. */
import { element, svg, visible } from '../dom.js';
import { callEdges } from '../profile/callers.js';
import { formatDelta, formatShare, formatValue } from '../profile/format.js';
import { focusOrHottest } from './controls.js';
import { Details } from './details.js';
import { amount } from './describe.js';
import { FramePicker } from './frame_picker.js';
import { chooseAround } from './graph_choose.js';
import { BOX, layOut } from './graph_layout.js';
import { graphPalette } from './palette.js';

export const title = 'Call graph';
const CHARACTERS = 27; /* of a name, in a box */
const MAX_STROKE = 8;
const BEND = 40; /* pixels by which an arrow bends that goes up or stays in its row */

/* A name that does not fit loses its beginning, which is mostly a path or a namespace. */
function shortName(name) {
	const text = visible(name);
	return text.length > CHARACTERS ? `…${text.slice(1 - CHARACTERS)}` : text;
}

class GraphView {
	constructor(host, context) {
		this.context = context;
		this.picker = new FramePicker(context);
		this.details = new Details(context);
		this.box = element('div', { class: 'graph-box', tabIndex: 0, role: 'region',
			'aria-label': 'Call graph' });
		this.root = element('div', { class: 'table-view' },
			element('div', { class: 'view-bar' }, this.picker.node), this.box, this.details.node);
		host.append(this.root);
	}

	show(model) {
		const frame = focusOrHottest(model, this.context.state);
		if (model !== this.model) {
			this.model = model;
			this.edges = callEdges(model);
		}
		this.frame = frame;
		this.picker.show(model, frame);
		this.details.show(model, frame);
		this.#draw();
	}

	#draw() {
		const { frames } = this.model, { frame } = this, { colours } = this.context;
		const total = Math.max(frames.total[frame], frames.baseTotal?.[frame] ?? 0);
		const { layers, edges } = chooseAround(this.edges, frame, total);
		const { places, width, height } = layOut(layers, edges);
		this.fillOf = graphPalette(this.model, colours.dark);
		this.heaviest = Math.max(1, ...edges.map(({ value, base }) => Math.max(value, base)));
		this.picture = svg('svg', {
			width, height, viewBox: `0 0 ${width} ${height}`, class: 'graph', role: 'group',
			'aria-label': `${layers.size} functions around ${visible(frames.name[frame])}`,
			'font-family': 'sans-serif', 'font-size': 12,
		}, this.#arrowHead(), edges.map((edge) => this.#edge(edge, places)),
		[...places].sort((a, b) => a[1].y - b[1].y || a[1].x - b[1].x).map(
			([at, place]) => this.#node(at, place)));
		this.box.replaceChildren(this.picture);
		const { x, y } = places.get(frame);
		this.box.scrollLeft = x + BOX.width / 2 - this.box.clientWidth / 2;
		this.box.scrollTop = y + BOX.height / 2 - this.box.clientHeight / 2;
	}

	#colour(name) {
		return this.context.colours.css(`--${name}`);
	}

	#arrowHead() {
		return svg('defs', {}, svg('marker', {
			id: 'arrow', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 8, markerHeight: 8,
			markerUnits: 'userSpaceOnUse', orient: 'auto',
		}, svg('path', { d: 'M0 0L8 4L0 8z', fill: this.#colour('dim') })));
	}

	#node(frame, { x, y }) {
		const { model, context } = this, { frames } = model;
		const total = frames.total[frame], base = frames.baseTotal?.[frame];
		const { fill, text } = this.fillOf(frame);
		const name = visible(frames.name[frame]);
		const values = model.isDiff ? formatDelta(total - base, model.unit) :
			`${formatShare(total, model.total)} (self ${formatShare(frames.self[frame], model.total)})`;
		const choose = () => context.set({ focus: frames.name[frame] });
		const node = svg('g', {
			class: 'graph-node', role: 'button', tabindex: 0,
			'aria-label': `${name}: total ${amount(model, total, base)}`,
			'aria-current': frame === this.frame ? 'true' : null,
		}, svg('title', {}, `${name}\n${amount(model, total, base)}`),
		svg('rect', { x, y, width: BOX.width, height: BOX.height, rx: 4, fill,
			stroke: this.#colour(frame === this.frame ? 'focus' : 'line'),
			'stroke-width': frame === this.frame ? 3 : 1 }),
		svg('text', { x: x + BOX.width / 2, y: y + 19, 'text-anchor': 'middle', fill: text },
			shortName(frames.name[frame])),
		svg('text', { x: x + BOX.width / 2, y: y + 36, 'text-anchor': 'middle', fill: text }, values));
		node.addEventListener('click', choose);
		node.addEventListener('keydown', (event) => {
			if (event.key !== 'Enter' && event.key !== ' ')
				return;
			event.preventDefault();
			choose();
		});
		return node;
	}

	#edge({ from, to, value, base }, places) {
		const { model } = this, a = places.get(from), b = places.get(to);
		const middle = BOX.width / 2, path = edgePath(a, b, middle);
		const label = model.isDiff ? formatDelta(value - base, model.unit) : formatShare(value, model.total);
		const { name } = model.frames;
		return svg('g', { 'aria-hidden': 'true' },
			svg('title', {}, `${visible(name[from])} → ${visible(name[to])}: ${amount(model, value, base)}`),
			svg('path', {
				d: path, fill: 'none', stroke: this.#colour('dim'), 'stroke-opacity': 0.65,
				'stroke-width': Math.max(1, MAX_STROKE * Math.max(value, base) / this.heaviest).toFixed(1),
				'marker-end': 'url(#arrow)',
			}),
			svg('text', {
				x: (a.x + b.x) / 2 + middle + 6, y: (a.y + b.y) / 2 + (a.y === b.y ? 4 - BEND * 0.75 : BOX.height / 2 + 4),
				fill: this.#colour('text'), 'font-size': 11, class: 'graph-label',
			}, from === to ? '' : label));
	}

	resize() {}

	destroy() {
		this.root.remove();
	}

	toSvg() {
		const copy = this.picture.cloneNode(true);
		copy.prepend(svg('rect', { width: '100%', height: '100%', fill: this.#colour('surface') }));
		return new XMLSerializer().serializeToString(copy);
	}
}

/* An arrow runs down from box to box. One that goes up or stays in its row bends around. */
function edgePath(a, b, middle) {
	const x1 = a.x + middle, x2 = b.x + middle;
	if (a === b)
		return `M${a.x + BOX.width} ${a.y + 14}c26 -8 26 26 0 18`;
	if (b.y > a.y) {
		const y1 = a.y + BOX.height, bend = (b.y - y1) / 2;
		return `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${b.y - bend} ${x2} ${b.y}`;
	}
	if (b.y === a.y)
		return `M${x1} ${a.y}C${x1} ${a.y - BEND} ${x2} ${b.y - BEND} ${x2} ${b.y}`;
	return `M${x1} ${a.y}C${x1} ${a.y - BEND} ${x2} ${b.y + BOX.height + BEND} ${x2} ${b.y + BOX.height}`;
}

export function createView(host, context) {
	return new GraphView(host, context);
}
