// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/** A field to choose the frame of a view. It offers the frames with the largest totals. */
import { element, visible } from '../dom.js';

const MAX_OFFERED = 400;
let lists = 0;

export class FramePicker {
	constructor(context) {
		this.context = context;
		this.list = element('datalist', { id: `frames-${++lists}` });
		this.input = element('input', {
			type: 'text', autocomplete: 'off', spellcheck: false,
			on: { change: () => this.#chosen() },
		});
		this.input.setAttribute('list', this.list.id);
		this.node = element('label', { class: 'choice picker' }, 'Function ', this.input, this.list);
	}

	show(model, frame) {
		if (model !== this.model)
			this.#offer(model);
		this.frame = frame;
		this.input.value = visible(model.frames.name[frame]);
		this.input.removeAttribute('aria-invalid');
	}

	#offer(model) {
		this.model = model;
		const { name, total } = model.frames;
		const rows = Array.from(model.rows).sort((a, b) => total[b] - total[a]).slice(0, MAX_OFFERED);
		/* The user types names as they are displayed. */
		this.names = new Map(Array.from(model.rows, (row) => [visible(name[row]), name[row]]));
		this.list.replaceChildren(...rows.map((row) => element('option', { value: visible(name[row]) })));
	}

	/* Accepts a part of a name; the first name that contains it is chosen. */
	#chosen() {
		const text = this.input.value;
		const found = this.names.get(text) ??
			Array.from(this.names).find(([seen]) => text && seen.includes(text))?.[1];
		if (found)
			return this.context.set({ focus: found });
		this.input.setAttribute('aria-invalid', 'true');
		this.context.announce('No function has this name');
	}
}
