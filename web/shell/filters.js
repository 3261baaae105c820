// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * The filters that are set, each with a button that removes it, and a field that adds one and suggests existing
 * values.
 */
import { element, visible } from '../dom.js';

const FIELDS = {
	comm: 'Name', pid: 'PID', unit: 'Unit', container: 'Container', thread: 'Thread (TID)',
};
const NUMBERS = ['pid', 'thread'];
const SUGGESTIONS = 300;

export class Filters {
	/** @param {{store: Store, processes: function(): object[]}} page */
	constructor(host, page) {
		this.page = page;
		this.chips = element('ul', { class: 'chips', 'aria-label': 'Filters' });
		this.field = element('select', { 'aria-label': 'Filter by', on: { change: () => this.suggest() } },
			Object.entries(FIELDS).map(([value, name]) => element('option', { value }, name)));
		this.value = element('input', { 'aria-label': 'Filter value', placeholder: 'only …', required: true });
		this.value.setAttribute('list', 'filter-values');
		this.values = element('datalist', { id: 'filter-values' });
		const form = element('form', { class: 'filter', on: { submit: (event) => this.#add(event) } },
			this.field, this.value, this.values, element('button', { type: 'submit' }, 'Filter'));
		host.append(form, this.chips);
	}

	#add(event) {
		event.preventDefault();
		const key = this.field.value, value = this.value.value.trim();
		const bad = NUMBERS.includes(key) && !/^\d{1,7}$/.test(value);
		this.value.setCustomValidity(bad ? 'a number' : '');
		if (!value || !this.value.reportValidity()) {
			this.value.addEventListener('input', () => this.value.setCustomValidity(''), { once: true });
			return;
		}
		this.value.value = '';
		this.page.store.set({ [key]: value });
	}

	/** Suggests the values of the processes that run. */
	suggest() {
		const key = this.field.value, processes = this.page.processes();
		const values = new Set(processes.map((process) => process[key]).filter(Boolean));
		const named = (value) => key === 'pid' && processes.find(({ pid }) => pid === value)?.comm;
		this.values.replaceChildren(...[...values].slice(0, SUGGESTIONS).map((value) =>
			element('option', { value: String(value), label: visible(named(value) || value) })));
	}

	#name(key, value) {
		const running = key === 'pid' && this.page.processes().find(({ pid }) => String(pid) === value);
		return running ? `${running.comm} (${value})` : value;
	}

	show() {
		const { store } = this.page;
		const active = Object.keys(FIELDS).filter((key) => store.state[key]);
		this.chips.replaceChildren(...active.map((key) => {
			const text = `${FIELDS[key]}: ${visible(this.#name(key, store.state[key]))}`;
			return element('li', {}, text, element('button', {
				type: 'button', class: 'plain', 'aria-label': `Remove the filter ${text}`,
				on: { click: () => { store.set({ [key]: '' }); this.value.focus(); } },
			}, '×'));
		}));
	}
}
