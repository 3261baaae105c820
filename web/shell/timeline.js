// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * The strip above the views: CPU use over the last ten minutes by process, or by thread if a process is chosen.
 * Every view shows the interval chosen here.
 */
import { element, visible } from '../dom.js';
import { getJson } from './daemon.js';
import { parseDuration, parseInterval } from './state.js';
import { DEFAULT_LAST } from './source.js';
import { drawTimeline } from './timeline_canvas.js';
import { SERIES, clockTime, describeStep, readTimeline, stretches } from './timeline_data.js';
import { TimelineInput } from './timeline_input.js';

const TABLE_ROWS = 20;

export class Timeline {
	#data = null;
	#asking = false;

	/** @param {{store: Store, colours: Theme, announce: function(string)}} page */
	constructor(host, page) {
		this.page = page;
		this.canvas = element('canvas', {
			class: 'timeline-canvas', tabIndex: 0, role: 'slider', 'aria-label': 'CPU use over time',
			'aria-describedby': 'timeline-help', 'aria-valuemin': 0, 'aria-valuemax': 0, 'aria-valuenow': 0,
		});
		this.said = element('output', { class: 'timeline-said', 'aria-live': 'off' });
		this.legend = element('ul', { class: 'timeline-legend', 'aria-label': 'Processes that used the most' });
		this.table = element('div', { class: 'timeline-table', hidden: true, tabIndex: 0, role: 'region',
			'aria-label': 'CPU use over time, as a table' });
		this.buttons = this.#makeButtons();
		host.append(
			element('div', { class: 'timeline-bar' }, this.said, this.buttons.all),
			this.canvas,
			element('p', { id: 'timeline-help', class: 'sr-only' },
				'Arrow keys move along time; with Shift they choose an interval. Enter shows it, B makes it ',
				'the baseline, Escape clears it.'),
			this.legend, this.table);
		this.input = new TimelineInput(this.canvas, {
			data: () => this.#data,
			choose: (from, to, isBase) => this.#choose(from, to, isBase),
			clear: () => this.#clear(),
			moved: (byKey) => this.#moved(byKey),
		});
		new ResizeObserver(() => this.draw()).observe(this.canvas);
	}

	#makeButtons() {
		const make = (label, press, properties = {}) =>
			element('button', { type: 'button', on: { click: press }, ...properties }, label);
		const pick = make('Choose baseline', () => this.#togglePicking(), {
			'aria-pressed': 'false', title: 'Drag over the interval to compare with (also: Shift and drag)' });
		const before = make('Compare with before', () => this.#before(), {
			title: 'Compares with the interval of the same length just before' });
		const clear = make('Clear', () => this.#clear());
		const table = make('Table', () => this.#toggleTable(), { 'aria-expanded': 'false' });
		return { pick, before, clear, table, all: element('div', { class: 'buttons' }, pick, before, clear, table) };
	}

	/** The interval shown: the one chosen or captured, or else the last minutes. */
	#chosen() {
		const { state } = this.page.store;
		if (state.from)
			return { from: Number(state.from), to: Number(state.to) };
		const end = this.#data.end;
		return { from: end - parseDuration(state.last || DEFAULT_LAST), to: end };
	}

	#choose(from, to, isBase) {
		const { store, announce } = this.page;
		const asBase = isBase || this.picking;
		if (this.picking)
			this.#togglePicking();
		const times = { from: from.toFixed(3).replace(/\.?0+$/, ''), to: to.toFixed(3).replace(/\.?0+$/, '') };
		if (asBase)
			store.set({ base: `${times.from}-${times.to}`, live: '', ...(store.state.from ? {} : this.#fixed()) });
		else
			store.set({ ...times, last: '', live: '' });
		announce(`${asBase ? 'Compared with' : 'Showing'} ${clockTime(from)} to ${clockTime(to)}`);
	}

	/* A comparison does not move: the interval shown gets a fixed start and end. */
	#fixed() {
		const { from, to } = this.#chosen();
		return { from: from.toFixed(0), to: to.toFixed(0), last: '' };
	}

	#before() {
		const { from, to } = this.#chosen();
		this.#choose(from - (to - from), from, true);
	}

	#clear() {
		this.page.store.set({ from: '', to: '', base: '' });
	}

	get picking() {
		return this.buttons.pick.getAttribute('aria-pressed') === 'true';
	}

	#togglePicking() {
		this.buttons.pick.setAttribute('aria-pressed', String(!this.picking));
	}

	#toggleTable() {
		this.table.hidden = !this.table.hidden;
		this.buttons.table.setAttribute('aria-expanded', String(!this.table.hidden));
		this.#fillTable();
	}

	#moved(byKey) {
		const { cursor } = this.input;
		this.draw();
		const text = cursor === null || !this.#data ? '' : describeStep(this.#data, cursor);
		this.said.textContent = visible(text) || this.#summary();
		if (byKey && cursor !== null) {
			this.canvas.setAttribute('aria-valuenow', cursor);
			this.canvas.setAttribute('aria-valuetext', visible(text));
		}
	}

	#summary() {
		const { store: { state } } = this.page, base = parseInterval(state.base);
		if (!this.#data)
			return 'CPU use over time';
		const shown = state.from ? `${clockTime(Number(state.from))} to ${clockTime(Number(state.to))}`
			: `the last ${state.last || DEFAULT_LAST}`;
		return `Shown: ${shown}${base ? `, compared with ${clockTime(base.from)} to ${clockTime(base.to)}` : ''}`;
	}

	/** Fetches new data, except while the user drags. The next answer replaces an error's message. */
	async refresh() {
		if (this.#asking || this.input.dragged)
			return;
		const { pid } = this.page.store.state;
		this.#asking = true;
		try {
			const address = `timeline?last=10m&step=1s&top=${SERIES}${pid ? `&pid=${pid}` : ''}`;
			this.#data = readTimeline(await getJson(address));
			this.show();
		} catch (error) {
			this.said.textContent = visible(error.message);
		} finally {
			this.#asking = false;
		}
	}

	/** Shows the current state and numbers. */
	show() {
		const { state } = this.page.store;
		this.buttons.clear.disabled = !state.from && !state.base;
		if (!this.#data)
			return;
		this.canvas.setAttribute('aria-valuemax', this.#data.steps - 1);
		this.#fillLegend();
		this.#fillTable();
		this.#moved(false);
	}

	draw() {
		if (!this.#data || !this.canvas.clientWidth)
			return;
		const { store, colours } = this.page;
		drawTimeline(this.canvas, colours, this.#data, {
			chosen: this.#chosen(),
			base: parseInterval(store.state.base),
			dragged: this.input.dragged,
			cursor: this.input.cursor === null ? null : Math.min(this.input.cursor, this.#data.steps - 1),
		});
	}

	#fillLegend() {
		const { threads, series } = this.#data;
		const focused = this.legend.contains(document.activeElement) ? document.activeElement.dataset.id : null;
		const items = series.map((row, i) => {
			const id = String(threads ? row.tid : row.pid);
			const filter = threads ? { thread: id } : { pid: id, thread: '' };
			return element('li', {}, element('button', {
				type: 'button', class: 'plain', dataset: { id },
				title: `Only ${threads ? 'thread' : 'process'} ${id}: ${row.total.toFixed(1)} s of CPU time`,
				on: { click: () => this.page.store.set(filter) },
			}, element('span', { class: `swatch series-${i}` }), visible(row.name || id)));
		});
		this.legend.replaceChildren(...items);
		if (focused)
			this.legend.querySelector(`[data-id="${CSS.escape(focused)}"]`)?.focus();
	}

	#fillTable() {
		if (this.table.hidden || !this.#data || this.table.contains(document.activeElement))
			return;
		const { series, cpus } = this.#data, percent = (use) => `${(use * 100).toFixed(0)} %`;
		const head = ['Time', `All ${cpus} CPUs`, ...series.map(({ name, pid }) => visible(name || pid)), 'Others', 'Show'];
		const rows = stretches(this.#data, TABLE_ROWS).map(({ from, to, sum, use, other }) => element('tr', {},
			element('th', { scope: 'row' }, clockTime(from)),
			[sum, ...use, other].map((value) => element('td', {}, percent(value))),
			element('td', {}, element('button', {
				type: 'button', 'aria-label': `Show ${clockTime(from)} to ${clockTime(to)}`,
				on: { click: (event) => this.#choose(from, to, event.shiftKey) },
			}, 'Show'))));
		this.table.replaceChildren(element('table', {},
			element('thead', {}, element('tr', {}, head.map((text) => element('th', { scope: 'col' }, text)))),
			element('tbody', {}, rows)));
	}
}
