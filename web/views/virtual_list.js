// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * A list of rows of equal height, with elements for the visible ones only. One row is active: the Tab key stops at
 * it, and arrow keys move it. A row is an element with data-index; the focus goes to it, or to the element inside
 * it that has data-stop.
 */
const MARGIN = 8; /* rows created beyond the visible ones */

export class VirtualList {
	/**
	 * @param {Element} box the element that scrolls
	 * @param {Element} body the element that holds the rows
	 * @param {{height: number, row: (index) => Element, spacer: () => Element}} options
	 */
	constructor(box, body, { height, row, spacer }) {
		Object.assign(this, { box, body, height, row });
		this.before = spacer();
		this.after = spacer();
		this.count = this.active = 0;
		this.onScroll = () => this.update();
		box.addEventListener('scroll', this.onScroll);
		body.addEventListener('focusin', (event) => this.#focused(event));
	}

	/** Starts over with `count` rows. */
	reset(count, active = 0) {
		this.count = count;
		this.active = Math.max(0, Math.min(active, count - 1));
		this.update();
	}

	update() {
		const { box, height, count } = this, { scrollTop } = box;
		const first = Math.max(0, Math.floor(scrollTop / height) - MARGIN);
		const end = Math.min(count, Math.ceil((scrollTop + box.clientHeight) / height) + MARGIN);
		const hadFocus = this.body.contains(document.activeElement);
		const rows = [];
		for (let index = first; index < end; index++)
			rows.push(this.#made(index));
		this.before.style.height = `${Math.min(first, count) * height}px`;
		this.after.style.height = `${Math.max(count - end, 0) * height}px`;
		this.body.replaceChildren(this.before, ...rows, this.after);
		/* Removing the focused row made the content shorter for a moment, which may have scrolled the box. */
		if (box.scrollTop !== scrollTop)
			box.scrollTop = scrollTop;
		if (hadFocus)
			this.#stop()?.focus({ preventScroll: true });
	}

	/** Makes a row the active one, scrolls to it and gives it the focus. */
	go(index, { focus = true } = {}) {
		this.active = Math.max(0, Math.min(index, this.count - 1));
		this.reveal(this.active);
		this.update();
		if (focus)
			this.#stop()?.focus({ preventScroll: true });
	}

	/** Scrolls until a row is visible. A sticky header covers the first `covered` pixels of the box. */
	reveal(index) {
		const { box, height } = this, covered = this.covered ?? 0;
		const y = index * height;
		if (y < box.scrollTop)
			box.scrollTop = y;
		else if (y + height + covered > box.scrollTop + box.clientHeight)
			box.scrollTop = y + height + covered - box.clientHeight;
	}

	/** The index that a key leads to; null for other keys. */
	target(key) {
		const page = Math.max(1, Math.floor(this.box.clientHeight / this.height) - 2);
		const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page,
			Home: -Infinity, End: Infinity };
		return key in steps ? Math.max(0, Math.min(this.active + steps[key], this.count - 1)) : null;
	}

	destroy() {
		this.box.removeEventListener('scroll', this.onScroll);
	}

	#made(index) {
		const row = this.row(index);
		row.dataset.index = index;
		const stop = row.querySelector('[data-stop]') ?? row;
		stop.tabIndex = index === this.active ? 0 : -1;
		return row;
	}

	#stop() {
		const row = this.body.querySelector(`[data-index="${this.active}"]`);
		return row?.querySelector('[data-stop]') ?? row;
	}

	#focused({ target }) {
		const index = Number(target.closest('[data-index]')?.dataset.index ?? this.active);
		if (index === this.active)
			return;
		const old = this.#stop();
		if (old)
			old.tabIndex = -1;
		this.active = index;
		target.tabIndex = 0;
	}
}
