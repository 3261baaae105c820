// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * A flame graph of one tree on a canvas: zoom, scroll, hover, keys. The canvas is as tall as its
 * visible part and stays in place while its box scrolls, so that a deep tree needs no large canvas.
 *
 * Events go to the owner: onZoom(node), onCursor(node). With hideRoot, the root's only child replaces
 * it. Mouse: click zooms, wheel with Ctrl zooms at the pointer, dragging moves sideways. Keys: arrows,
 * Home, End, Enter, Escape, + and -, n and N.
 */
import { element, visible } from '../dom.js';
import { nodeFacts, nodeSentence } from './describe.js';
import { moveTo, nextMatch } from './flame_keys.js';
import { NameCache, ROW, paint, sizeCanvas } from './flame_paint.js';
import { nodeAt, startsOf } from './layout.js';
import { Tooltip } from './tooltip.js';

const ZOOM_STEP = 1.25;
const ZOOM_MS = 140;
const MIN_PART = 1e-9; /* of the whole: the smallest range that the width may show */
const DRAG_PIXELS = 4;

export class FlameChart {
	/** @param {{label: string, hideRoot?: boolean, onZoom?: Function, onCursor?: Function}} options */
	constructor(host, context, options) {
		this.context = context;
		this.options = options;
		this.canvas = element('canvas', {
			tabIndex: 0, class: 'flame-canvas', role: 'application',
			'aria-roledescription': 'flame graph', 'aria-label': options.label,
			on: {
				click: (event) => this.#click(event),
				pointermove: (event) => this.#pointerMove(event),
				pointerdown: (event) => this.#pointerDown(event),
				pointerup: () => { this.drag = null; },
				pointerleave: () => this.#hover(-1),
				keydown: (event) => this.#keyDown(event),
				focus: () => this.#announceFocus(),
				blur: () => this.draw(),
			},
		});
		this.canvas.addEventListener('wheel', (event) => this.#wheel(event), { passive: false });
		this.sizer = element('div', { class: 'flame-sizer' }, this.canvas);
		this.box = element('div', { class: 'flame-box', on: { scroll: () => this.draw() } }, this.sizer);
		this.tooltip = new Tooltip(host);
		host.append(this.box);
		this.observer = new ResizeObserver(() => this.resize());
		this.observer.observe(this.box);
		this.cursor = this.hover = -1;
		this.zoomed = 0;
		this.pending = 0;
		this.drag = null;
	}

	/** Shows a tree of a model. @param {object} look palette, marks, upwards, colours, font */
	show(model, tree, look) {
		/* A new profile keeps the scroll position: live ones arrive every two seconds. */
		this.fresh ||= !this.tree || look.upwards !== this.look.upwards;
		if (tree !== this.tree) {
			this.tree = tree;
			this.starts = startsOf(tree);
			this.names = new NameCache(model.frames);
			this.hover = -1;
			this.cursor = this.zoomed = this.top;
			this.range = this.rangeOf(this.top);
		}
		this.model = model;
		this.look = look;
		this.resize();
	}

	rangeOf(node) {
		const from = this.starts[node];
		return { from, to: from + (this.tree.weight[node] || 1) };
	}

	resize() {
		if (!this.tree)
			return;
		this.sizer.style.height = `${this.rows * ROW}px`;
		this.width = Math.max(this.box.clientWidth, 50);
		this.height = Math.max(Math.min(this.box.clientHeight, this.rows * ROW), ROW);
		if (this.fresh)
			this.box.scrollTop = this.look.upwards ? this.box.scrollHeight : 0;
		this.fresh = false;
		this.paintNow();
	}

	get rows() {
		return this.tree.maxDepth + 1 - this.top;
	}

	/* The node of the first row: the root, or with hideRoot its only child. */
	get top() {
		return this.options.hideRoot && this.tree.count > 1 ? 1 : 0;
	}

	/** Zooms until a node fills the width, animated and with onZoom(); quiet: without either. */
	zoom(node, { quiet = false } = {}) {
		this.zoomed = node;
		if (node > 0 || this.cursor < 0)
			this.cursor = node;
		if (quiet) {
			this.range = this.rangeOf(node);
			return this.draw();
		}
		this.#animateTo(this.rangeOf(node));
		this.#reveal(node);
		this.options.onZoom?.(node);
	}

	moveCursor(node) {
		this.cursor = node;
		this.#reveal(node);
		this.#widen(node);
		this.context.announce(nodeSentence(this.model, this.tree, node));
		this.options.onCursor?.(node);
		this.draw();
	}

	draw() {
		this.pending ||= requestAnimationFrame(() => this.paintNow());
	}

	destroy() {
		cancelAnimationFrame(this.pending);
		cancelAnimationFrame(this.animation);
		this.observer.disconnect();
		this.tooltip.destroy();
		this.box.remove();
	}

	paintNow() {
		cancelAnimationFrame(this.pending);
		this.pending = 0;
		if (!this.tree)
			return;
		const began = performance.now();
		paint(sizeCanvas(this.canvas, this.width, this.height), {
			...this.look, tree: this.tree, starts: this.starts, range: this.range, names: this.names,
			cursor: this.cursor, hover: this.hover, zoomed: this.zoomed, top: this.box.scrollTop,
			width: this.width, height: this.height,
			focused: document.activeElement === this.canvas,
			rowOf: (depth) => this.#rowOf(depth) * ROW,
			depthAt: (y) => this.#depthAt(Math.floor(y / ROW)),
		});
		/* For measurements from outside. */
		this.canvas.dataset.paintMs = (performance.now() - began).toFixed(2);
	}

	#rowOf(depth) {
		return this.look.upwards ? this.rows - 1 - depth + this.top : depth - this.top;
	}

	#depthAt(row) {
		return this.look.upwards ? this.rows - 1 - row + this.top : row + this.top;
	}

	#nodeAt(event) {
		if (!this.tree)
			return -1;
		const { from, to } = this.range;
		const at = from + (event.offsetX / this.width) * (to - from);
		return nodeAt(this.tree, this.starts, at,
			this.#depthAt(Math.floor((event.offsetY + this.box.scrollTop) / ROW)));
	}

	#click(event) {
		const node = this.moved ? -1 : this.#nodeAt(event);
		this.moved = false;
		if (node >= 0) {
			this.cursor = node;
			this.options.onCursor?.(node);
			this.zoom(node);
		}
	}

	#pointerDown(event) {
		this.moved = false;
		this.drag = { x: event.clientX, range: this.range };
	}

	#pointerMove(event) {
		if (this.drag && event.buttons & 1)
			return this.#pan(event);
		this.drag = null;
		this.#hover(this.#nodeAt(event), event);
	}

	#pan(event) {
		const { x, range } = this.drag, pixels = x - event.clientX;
		if (Math.abs(pixels) < DRAG_PIXELS && !this.moved)
			return;
		this.moved = true;
		const by = (pixels / this.width) * (range.to - range.from);
		this.#setRange(range.from + by, range.to + by);
	}

	#hover(node, event) {
		if (node < 0)
			this.tooltip.hide();
		else
			this.tooltip.show(event, visible(this.model.frames.name[this.tree.frame[node]]),
				nodeFacts(this.model, this.tree, node));
		if (node === this.hover)
			return;
		this.hover = node;
		this.draw();
	}

	#wheel(event) {
		if (!event.ctrlKey && !event.metaKey && !event.altKey)
			return;
		event.preventDefault();
		this.#zoomBy(event.deltaY > 0 ? ZOOM_STEP : 1 / ZOOM_STEP, event.offsetX / this.width);
	}

	/* Zooms about the point at `part` of the width. */
	#zoomBy(factor, part) {
		const { from, to } = this.range, size = (to - from) * factor, at = from + part * (to - from);
		this.#setRange(at - part * size, at + (1 - part) * size);
	}

	#setRange(from, to) {
		const whole = this.tree.weight[0] || 1;
		const size = Math.min(Math.max(to - from, whole * MIN_PART), whole);
		const start = Math.min(Math.max(from, 0), whole - size);
		this.range = { from: start, to: start + size };
		this.draw();
	}

	#animateTo(range) {
		cancelAnimationFrame(this.animation);
		if (matchMedia('(prefers-reduced-motion: reduce)').matches || document.hidden) {
			this.range = range;
			return this.draw();
		}
		const began = performance.now(), start = this.range;
		const step = (now) => {
			const part = Math.min(1, Math.max(0, now - began) / ZOOM_MS), eased = part * (2 - part);
			this.range = part === 1 ? range : {
				from: start.from + (range.from - start.from) * eased,
				to: start.to + (range.to - start.to) * eased,
			};
			this.paintNow();
			if (part < 1)
				this.animation = requestAnimationFrame(step);
		};
		this.animation = requestAnimationFrame(step);
	}

	/* Scrolls until the row of a node is visible. */
	#reveal(node) {
		const y = this.#rowOf(this.tree.depth[node]) * ROW, { scrollTop } = this.box;
		if (y < scrollTop)
			this.box.scrollTop = y;
		else if (y + ROW > scrollTop + this.height)
			this.box.scrollTop = y + ROW - this.height;
	}

	/* Zooms out until a node is inside the visible range. */
	#widen(node) {
		let zoomed = this.zoomed;
		while (node > zoomed ? node >= this.tree.end[zoomed] : node < zoomed)
			zoomed = this.tree.parent[zoomed];
		if (zoomed !== this.zoomed)
			this.zoom(zoomed);
		this.cursor = node;
	}

	#announceFocus() {
		this.draw();
		if (this.tree)
			this.context.announce(nodeSentence(this.model, this.tree, Math.max(this.cursor, 0)));
	}

	#keyDown(event) {
		if (!this.tree || event.ctrlKey || event.metaKey || event.altKey)
			return;
		const node = Math.max(this.cursor, 0);
		const target = moveTo(this.tree, node, event.key, this.look.upwards);
		const { marks } = this.look;
		if (target !== null)
			this.moveCursor(Math.max(target, this.top));
		else if (event.key === 'Enter' || event.key === ' ')
			this.zoom(node);
		else if (event.key === 'Escape' || event.key === 'Backspace')
			this.zoom(Math.max(this.tree.parent[this.zoomed], this.top));
		else if (event.key === '+' || event.key === '=')
			this.#zoomBy(1 / ZOOM_STEP, 0.5);
		else if (event.key === '-')
			this.#zoomBy(ZOOM_STEP, 0.5);
		else if (marks && (event.key === 'n' || event.key === 'N'))
			this.moveCursor(nextMatch(this.tree, node, marks, event.key === 'n' ? 1 : -1));
		else
			return;
		event.preventDefault();
		event.stopPropagation();
	}
}
