// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * Rows of one height, of which only those that are seen exist. One row is the active one: it is the stop
 * of the Tab key, and arrow keys move it. A row is an element with data-index; it, or what is in it with
 * data-stop, takes the focus.
 */
const MARGIN = 8; /* rows made beyond what is seen */

export class VirtualList {
	/**
	 * @param {Element} box what scrolls
	 * @param {Element} body what the rows are put in
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

	/** Starts over with so many rows. */
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
		/* While the row with the focus was taken out, there was less to scroll. */
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

	/** Scrolls as far as it takes to see a row; what is sticky above the rows covers some of the box. */
	reveal(index) {
		const { box, height } = this, covered = this.covered ?? 0;
		const y = index * height;
		if (y < box.scrollTop)
			box.scrollTop = y;
		else if (y + height + covered > box.scrollTop + box.clientHeight)
			box.scrollTop = y + height + covered - box.clientHeight;
	}

	/** Where a key leads; null where it is no key of a list. */
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
