// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * The table of a model's rows: sorted by any column, filtered by the search, copied as TSV. It is an
 * HTML table with elements for the visible rows only, so a screen reader can read it instead of a canvas.
 */
import { element, visible } from '../dom.js';
import { matchFrames } from '../profile/search.js';
import { columnsOf, deltaClass } from './columns.js';
import { copyText } from './copy.js';
import { Details } from './details.js';
import { placeOf } from './describe.js';
import { VirtualList } from './virtual_list.js';

export const title = 'Table';
const ROW_HEIGHT = 26;
const NAMES = { function: 'Function', line: 'Line', file: 'File', binary: 'Binary', process: 'Process',
	thread: 'Thread' };

class TableView {
	constructor(host, context) {
		this.context = context;
		this.count = element('span', { class: 'dim', role: 'status' });
		this.head = element('thead');
		this.body = element('tbody', { on: {
			click: (event) => this.#choose(event.target.closest('[data-index]')),
			keydown: (event) => this.#keyDown(event),
		} });
		this.table = element('table', { class: 'rows' }, this.head, this.body);
		this.box = element('div', { class: 'rows-box' }, this.table);
		this.details = new Details(context);
		this.root = element('div', { class: 'table-view' },
			element('div', { class: 'view-bar' }, this.count, element('button', {
				type: 'button', on: { click: () => this.#copy() },
			}, 'Copy as TSV')),
			this.box, this.details.node);
		host.append(this.root);
		this.list = new VirtualList(this.box, this.body, {
			height: ROW_HEIGHT,
			row: (index) => this.#row(index),
			spacer: () => element('tr', { 'aria-hidden': 'true', class: 'spacer' },
				element('td')),
		});
		this.list.covered = ROW_HEIGHT;
	}

	show(model) {
		const { state } = this.context;
		const previous = model === this.model ? this.rows[this.list.active] : -1;
		this.model = model;
		this.columns = [
			{ key: 'name', label: NAMES[model.by] ?? 'Function', value: (row) => model.frames.name[row] },
			...columnsOf(model),
		];
		this.#sort(state.sort || (model.isDiff ? 'self-delta' : 'self'), matchFrames(model.frames, state.search));
		this.#showHead();
		this.count.textContent = `${this.rows.length.toLocaleString('en-US')} of ` +
			`${model.rows.length.toLocaleString('en-US')} rows`;
		this.table.setAttribute('aria-rowcount', this.rows.length + 1);
		const frame = model.frames.name.indexOf(state.focus, 1);
		this.chosen = state.focus && frame > 0 ? frame : -1;
		const active = this.rows.indexOf(previous > 0 ? previous : this.chosen);
		this.list.reset(this.rows.length, Math.max(0, active));
		if (this.chosen > 0)
			this.details.show(model, this.chosen);
		else
			this.details.clear();
	}

	/* sort: a column's key, with a leading minus for the reverse order. Changes are sorted by magnitude. */
	#sort(sort, marks) {
		const reversed = sort[0] === '-', key = reversed ? sort.slice(1) : sort;
		const column = this.columns.find((one) => one.key === key) ??
			this.columns.find((one) => one.key === 'self');
		this.sorted = { column, reversed };
		const { name, total } = this.model.frames;
		const value = column.isDelta ? (row) => Math.abs(column.value(row)) : column.value;
		const isText = column.key === 'name';
		const rows = Array.from(this.model.rows).filter((row) => !marks || marks[row]);
		const byName = (a, b) => (name[a] < name[b] ? -1 : name[a] > name[b] ? 1 : 0);
		rows.sort(isText ? byName : (a, b) => value(b) - value(a) || total[b] - total[a] || byName(a, b));
		this.rows = reversed ? rows.reverse() : rows;
	}

	#showHead() {
		const { column: sorted, reversed } = this.sorted;
		const isAscending = (sorted.key === 'name') !== reversed;
		this.head.replaceChildren(element('tr', { 'aria-rowindex': '1' }, this.columns.map((column) =>
			element('th', {
				scope: 'col', class: column.key === 'name' ? 'name' : 'number',
				'aria-sort': column === sorted ? (isAscending ? 'ascending' : 'descending') : null,
			}, element('button', { type: 'button', on: { click: () => this.#sortBy(column) } },
				column.label,
				element('span', { 'aria-hidden': 'true' },
					column === sorted ? (isAscending ? ' ▲' : ' ▼') : ''))))));
	}

	#sortBy(column) {
		const key = column.sortKey ?? column.key, { column: sorted, reversed } = this.sorted;
		this.context.set({ sort: (sorted.sortKey ?? sorted.key) === key && !reversed ? `-${key}` : key });
	}

	#row(index) {
		const row = this.rows[index], { frames } = this.model;
		const [, ...numbers] = this.columns;
		return element('tr', {
			'aria-rowindex': index + 2, class: row === this.chosen ? 'chosen' : null,
		}, element('th', { scope: 'row', class: 'name' },
			element('button', {
				type: 'button', dataset: { stop: '' }, title: placeOf(frames, row) || null,
				'aria-current': row === this.chosen ? 'true' : null,
			}, visible(frames.name[row]))),
		numbers.map((column) => element('td', { class: deltaClass(column, row) }, column.text(row))));
	}

	#choose(rowNode) {
		if (!rowNode)
			return;
		this.list.active = Number(rowNode.dataset.index);
		this.context.set({ focus: this.model.frames.name[this.rows[this.list.active]] }, { replace: true });
	}

	#keyDown(event) {
		const target = this.list.target(event.key);
		if (target === null || event.ctrlKey || event.altKey || event.metaKey)
			return;
		event.preventDefault();
		this.list.go(target);
	}

	async #copy() {
		await copyText(this.toTsv());
		this.context.announce(`${this.rows.length} rows copied`);
	}

	/** All rows that pass the filter, in the table's order; values as plain numbers. */
	toTsv() {
		const { frames } = this.model;
		const lines = this.rows.map((row) => [...this.columns.map((column) =>
			(column.key === 'name' ? visible(frames.name[row]) : String(+column.value(row).toFixed(4)))),
		placeOf(frames, row), visible(frames.binary[row])]);
		const head = [...this.columns.map(({ label }) => label), 'Source', 'In binary'];
		return [head, ...lines].map((cells) => `${cells.join('\t')}\n`).join('');
	}

	resize() {
		this.list.update();
	}

	destroy() {
		this.list.destroy();
		this.root.remove();
	}
}

export function createView(host, context) {
	return new TableView(host, context);
}
