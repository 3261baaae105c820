// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/** The source of one frame, with the values of each line. The daemon supplies the text. */
import { element, visible } from '../dom.js';
import { formatDelta, formatValue } from '../profile/format.js';
import { lineTotals } from '../profile/lines.js';
import { focusOrHottest } from './controls.js';
import { Details } from './details.js';
import { FramePicker } from './frame_picker.js';
import { highlight } from './highlight.js';

export const title = 'Source';
const AROUND = 12;      /* lines shown before the first and after the last line with values */
const MAX_LINES = 2000; /* lines that the daemon returns at once */

function sum({ lines }) {
	return [...lines.values()].reduce((all, { total }) => all + Math.abs(total), 0);
}

function heaviest(containers) {
	return [...containers].sort((a, b) => b[1] - a[1])[0][0];
}

/*
 * The file with the largest values, and the container that most of them are from, '' if from no container:
 * {file, container, lines: Map<number, {self, total, base}>}; null if there is no file.
 */
function heaviestFile(model, name) {
	const [now, base] = model.sources.map((source) => lineTotals(source, name));
	const all = base ? new Map([...base, ...now]) : now;
	const [file, { containers } = {}] = [...all].sort((a, b) => sum(b[1]) - sum(a[1]))[0] ?? [];
	if (file === undefined)
		return null;
	const lines = new Map(now.get(file)?.lines);
	for (const [number, { total }] of base?.get(file)?.lines ?? [])
		lines.set(number, { self: 0, total: 0, ...lines.get(number), base: total * model.scale });
	return { file, container: heaviest(containers), lines };
}

/*
 * The range to show, and the number of lines to request around the hottest one. The daemon returns as many lines
 * before the requested line as after it, as far as the file has them.
 */
function rangeOf(lines) {
	const numbers = [...lines.keys()].sort((a, b) => a - b);
	const hottest = numbers.reduce((best, number) =>
		(lines.get(number).total > lines.get(best).total ? number : best), numbers[0]);
	const first = numbers[0] - AROUND, last = numbers.at(-1) + AROUND;
	const side = Math.max(hottest - first, last - hottest);
	return { first, last, hottest, count: Math.min(2 * side + 1, MAX_LINES) };
}

class SourceView {
	constructor(host, context) {
		this.context = context;
		this.picker = new FramePicker(context);
		this.details = new Details(context);
		this.message = element('p', { class: 'dim', role: 'status' });
		this.head = element('tr');
		this.body = element('tbody');
		this.box = element('div', { class: 'rows-box', tabIndex: 0, role: 'region',
			'aria-label': 'Source text' },
		element('table', { class: 'source' }, element('thead', {}, this.head), this.body));
		this.root = element('div', { class: 'table-view' },
			element('div', { class: 'view-bar' }, this.picker.node), this.message, this.box,
			this.details.node);
		host.append(this.root);
	}

	show(model) {
		const frame = focusOrHottest(model, this.context.state);
		this.picker.show(model, frame);
		this.details.show(model, frame);
		if (model === this.model && frame === this.frame)
			return;
		this.model = model;
		this.frame = frame;
		this.found = heaviestFile(model, model.frames.name[frame]);
		this.#load();
	}

	async #load() {
		const { found } = this;
		if (!found) {
			this.message.textContent = 'The profile names no source lines of this function.';
			return this.body.replaceChildren();
		}
		const range = rangeOf(found.lines);
		const query = new URLSearchParams({
			file: found.file, container: found.container, line: range.hottest, lines: range.count,
		});
		let text = { first: range.first, lines: [] }, why = '';
		try {
			text = await this.context.getJson(`source?${query}`);
		} catch (error) {
			why = `. ${error.message}`;
		}
		if (found !== this.found)
			return;
		this.message.textContent = visible(found.file) + why;
		this.#fill(text, range);
	}

	#fill(text, { first, last, hottest }) {
		const { model, found } = this;
		const columns = model.isDiff ? ['Base', 'New', 'Change'] : ['Self', 'Total'];
		this.head.replaceChildren(...['Line', ...columns].map((label) =>
			element('th', { scope: 'col', class: 'number' }, label)),
		element('th', { scope: 'col' }, 'Text'));
		const code = highlight(found.file, text.lines);
		const most = Math.max(...[...found.lines.values()].map(({ total, base = 0 }) => Math.max(total, base)));
		const numbers = text.lines.length ?
			text.lines.map((_, i) => text.first + i) : [...found.lines.keys()].sort((a, b) => a - b);
		this.body.replaceChildren(...numbers.filter((number) => number >= first && number <= last).map(
			(number) => this.#row(number, code[number - text.first] ?? [], most)));
		const row = this.body.querySelector(`[data-line="${hottest}"]`);
		if (row)
			this.box.scrollTop = row.offsetTop - this.box.clientHeight / 2;
	}

	#row(number, code, most) {
		const { model, found } = this, values = found.lines.get(number), { unit } = model;
		const show = (value) => (value ? formatValue(value, unit) : '');
		const { self = 0, total = 0, base = 0 } = values ?? {};
		const cells = model.isDiff ?
			[show(base), show(total), total - base ? formatDelta(total - base, unit) : ''] :
			[show(self), show(total)];
		const row = element('tr', { dataset: { line: number }, class: values ? 'hot' : null },
			element('th', { scope: 'row', class: 'number' }, number),
			cells.map((text, i) => element('td', {
				class: i < 2 || !text ? 'number' : total > base ? 'number more' : 'number less',
			}, text)),
			element('td', {}, element('code', {}, code)));
		if (values)
			row.style.setProperty('--heat', `${Math.round(45 * Math.max(total, base) / (most || 1))}%`);
		return row;
	}

	resize() {}

	destroy() {
		this.found = undefined;
		this.root.remove();
	}
}

export function createView(host, context) {
	return new SourceView(host, context);
}
