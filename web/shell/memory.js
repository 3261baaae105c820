// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * The memory of the chosen process over time, and whether it grows steadily.
 */
import { element, visible } from '../dom.js';
import { formatValue } from '../profile/format.js';
import { getJson } from './daemon.js';
import { AXIS, drawAxis, prepare } from './timeline_canvas.js';
import { clockTime } from './timeline_data.js';

/* Memory of the process itself. Its control group is not drawn: its amounts are of another order. */
const NAMES = {
	rss_anon: 'Anonymous', rss_file: 'Files', rss_shmem: 'Shared', swap: 'Swapped out',
	heap_inuse: 'Heap in use',
};
const TABLE_ROWS = 20;

/** The times of the points, and the columns of NAMES that have values. */
function readMemory(answer) {
	const at = answer.fields.indexOf('unix_ms');
	const times = answer.points.map((point) => point[at] / 1000);
	const curves = answer.fields.map((field, i) => ({ field, values: answer.points.map((point) => point[i]) }))
		.filter(({ field, values }) => field in NAMES && values.some((value) => value));
	return { times, curves, growth: answer.growth };
}

function drawCurve(context, { times, from, seconds, width, bottom, most }, values) {
	let drawing = false;
	context.beginPath();
	values.forEach((value, i) => {
		if (value === null) {
			drawing = false;
			return;
		}
		const x = (times[i] - from) / seconds * width, y = bottom - value / most * (bottom - 12);
		if (drawing)
			context.lineTo(x, y);
		else
			context.moveTo(x, y);
		drawing = true;
	});
	context.stroke();
}

export class Memory {
	#data = null;

	/** @param {{store: Store, colours: Theme}} page */
	constructor(section, page) {
		this.page = page;
		this.section = section;
		this.title = element('h2');
		this.note = element('p');
		this.canvas = element('canvas', { class: 'memory-canvas', role: 'img' });
		this.legend = element('ul', { class: 'timeline-legend' });
		this.body = element('table');
		const table = element('details', {}, element('summary', {}, 'As a table'),
			element('div', { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Memory over time' }, this.body));
		section.append(this.title, this.note, this.canvas, this.legend, table);
		new ResizeObserver(() => this.draw()).observe(this.canvas);
	}

	async refresh() {
		const { pid } = this.page.store.state;
		if (!pid) {
			this.section.hidden = true;
			return;
		}
		try {
			const answer = await getJson(`memory?pid=${pid}`);
			if (this.page.store.state.pid !== pid)
				return;
			this.#data = readMemory(answer);
			this.title.textContent = `Memory of ${visible(answer.comm ?? `process ${pid}`)}`;
			this.section.hidden = this.#data.times.length < 2 || !this.#data.curves.length;
		} catch {
			this.section.hidden = true; // the daemon keeps or serves no memory timeline of it
			return;
		}
		this.#show();
	}

	#show() {
		const { curves, growth } = this.#data;
		const latest = ({ values }) => formatValue(values.at(-1) ?? 0, 'bytes');
		this.note.textContent = growth?.leaking
			? `${growth.of === 'heap' ? 'Its heap grows' : 'Grows'} steadily, by ${formatValue(growth.bytes_per_second, 'bytes')} a second` : '';
		this.note.className = growth?.leaking ? 'warning' : '';
		this.canvas.setAttribute('aria-label',
			curves.map((curve) => `${NAMES[curve.field]} ${latest(curve)}`).join(', '));
		this.legend.replaceChildren(...curves.map((curve, i) => element('li', {},
			element('span', { class: `swatch series-${i}` }), `${NAMES[curve.field]} ${latest(curve)}`)));
		this.#fillTable();
		this.draw();
	}

	#fillTable() {
		const { times, curves } = this.#data, every = Math.max(1, Math.ceil(times.length / TABLE_ROWS));
		const kept = times.map((_, i) => i).filter((i) => i % every === 0 || i === times.length - 1);
		this.body.replaceChildren(
			element('thead', {}, element('tr', {}, ['Time', ...curves.map(({ field }) => NAMES[field])]
				.map((name) => element('th', { scope: 'col' }, name)))),
			element('tbody', {}, kept.map((i) => element('tr', {}, element('th', { scope: 'row' }, clockTime(times[i])),
				curves.map(({ values }) => element('td', {}, values[i] === null ? '' : formatValue(values[i], 'bytes')))))));
	}

	draw() {
		if (!this.#data || this.section.hidden || !this.canvas.clientWidth)
			return;
		const { colours } = this.page, { times, curves } = this.#data;
		const { context, width, height } = prepare(this.canvas);
		const from = times[0], seconds = Math.max(times.at(-1) - from, 1), bottom = height - AXIS;
		const most = Math.max(1, ...curves.map(({ values }) => values.reduce((a, b) => Math.max(a, b ?? 0), 0)));
		drawAxis(context, colours, { from, seconds, width, height });
		context.fillStyle = colours.css('--dim');
		context.textBaseline = 'top';
		context.fillText(formatValue(most, 'bytes'), 4, 0);
		context.lineWidth = 2;
		curves.forEach(({ values }, i) => {
			context.strokeStyle = colours.css(`--series-${i}`);
			drawCurve(context, { times, from, seconds, width, bottom, most }, values);
		});
	}
}
