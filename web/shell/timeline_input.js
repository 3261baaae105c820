// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * Choosing intervals on the timeline by dragging or from the keyboard. Keys move a cursor over the steps, and with
 * Shift extend an interval from the step where Shift was first used.
 */

const DRAG_PIXELS = 4;
const PAGE = 10;

export class TimelineInput {
	/**
	 * @param {HTMLCanvasElement} canvas
	 * @param {{data: function(), choose: function(from, to, isBase), clear: function(), moved: function()}} strip
	 *        moved is called when the cursor or the dragged interval changes
	 */
	constructor(canvas, strip) {
		this.canvas = canvas;
		this.strip = strip;
		this.cursor = null;
		this.anchor = null;  // a step
		this.dragged = null; // {from, to} in seconds
		this.start = null;   // where the pointer was pressed
		canvas.addEventListener('pointerdown', (event) => this.#down(event));
		canvas.addEventListener('pointermove', (event) => this.#move(event));
		canvas.addEventListener('pointerup', (event) => this.#up(event));
		canvas.addEventListener('pointercancel', () => this.#drop());
		canvas.addEventListener('pointerleave', () => this.#leave());
		canvas.addEventListener('keydown', (event) => this.#key(event));
	}

	#step(event) {
		const data = this.strip.data(), box = this.canvas.getBoundingClientRect();
		const share = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
		return Math.min(Math.floor(share * data.steps), data.steps - 1);
	}

	#between(a, b) {
		const { from, step } = this.strip.data();
		return { from: from + Math.min(a, b) * step, to: from + (Math.max(a, b) + 1) * step };
	}

	#down(event) {
		if (!this.strip.data() || event.button !== 0)
			return;
		this.canvas.setPointerCapture(event.pointerId);
		this.start = { x: event.clientX, step: this.#step(event) };
	}

	#move(event) {
		if (!this.strip.data())
			return;
		this.cursor = this.#step(event);
		if (this.start && Math.abs(event.clientX - this.start.x) >= DRAG_PIXELS)
			this.dragged = this.#between(this.start.step, this.cursor);
		this.strip.moved(false);
	}

	#up(event) {
		const { dragged } = this;
		this.#drop();
		if (dragged)
			this.strip.choose(dragged.from, dragged.to, event.shiftKey);
	}

	#drop() {
		this.start = this.dragged = null;
		this.strip.moved(false);
	}

	#leave() {
		if (this.start)
			return;
		this.cursor = null;
		this.strip.moved(false);
	}

	#target(key, at, last) {
		const targets = {
			ArrowLeft: at - 1, ArrowRight: at + 1, ArrowDown: at - 1, ArrowUp: at + 1,
			PageUp: at + PAGE, PageDown: at - PAGE, Home: 0, End: last,
		};
		return key in targets ? Math.min(Math.max(targets[key], 0), last) : null;
	}

	#key(event) {
		const data = this.strip.data();
		if (!data || event.ctrlKey || event.metaKey || event.altKey)
			return;
		const last = data.steps - 1, at = Math.min(this.cursor ?? last, last);
		const target = this.#target(event.key, at, last);
		if (target !== null)
			this.#walk(event.shiftKey, at, target);
		else if (event.key === 'Enter' || event.key.toLowerCase() === 'b')
			this.#take(at, event.key !== 'Enter');
		else if (event.key === 'Escape')
			this.#escape();
		else
			return;
		event.preventDefault();
	}

	#walk(stretching, at, target) {
		this.anchor = stretching ? this.anchor ?? at : null;
		this.cursor = target;
		this.dragged = stretching ? this.#between(this.anchor, target) : null;
		this.strip.moved(true);
	}

	#take(at, isBase) {
		const { from, to } = this.dragged ?? this.#between(at, at);
		this.anchor = this.dragged = null;
		this.strip.choose(from, to, isBase);
	}

	#escape() {
		const had = this.dragged;
		this.anchor = this.dragged = null;
		if (had)
			this.strip.moved(false);
		else
			this.strip.clear();
	}
}
