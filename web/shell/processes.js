// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * The running processes, busiest first; a click on one filters by it. The filters suggest names from this list.
 */
import { element, visible } from '../dom.js';
import { formatValue } from '../profile/format.js';
import { getJson } from './daemon.js';

const ROWS = 100;

export class Processes {
	#list = [];

	/** @param {{store: Store, gpu: Gpu?, suggested: function()}} page suggested: called when the list changes */
	constructor(host, page) {
		this.page = page;
		this.search = element('input', {
			type: 'search', placeholder: 'name, PID or unit', 'aria-label': 'Find a process', on: { input: () => this.show() } });
		this.body = element('tbody');
		this.head = element('tr');
		this.note = element('p', { class: 'dim' });
		host.append(this.search, element('div', { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Processes' },
			element('table', { class: 'processes' }, element('thead', {}, this.head), this.body)), this.note);
	}

	get list() {
		return this.#list;
	}

	async refresh() {
		try {
			this.#list = await getJson('processes');
			this.note.textContent = '';
		} catch (error) {
			this.note.textContent = visible(error.message);
			return;
		}
		this.page.suggested();
		this.redraw();
	}

	/** Shows the new list, unless a row has the focus: the user may be about to click it. */
	redraw() {
		if (!this.body.contains(document.activeElement))
			this.show();
	}

	#matching() {
		const wanted = this.search.value.trim().toLowerCase();
		return this.#list.filter(({ pid, comm, unit }) =>
			!wanted || String(pid) === wanted || `${comm} ${unit}`.toLowerCase().includes(wanted));
	}

	show() {
		const withMemory = this.#list.some(({ rss_bytes: bytes }) => bytes !== undefined);
		const withGpu = Boolean(this.page.gpu?.any);
		const columns = ['Process', 'PID', 'CPU', ...(withMemory ? ['Memory'] : []), ...(withGpu ? ['GPU'] : [])];
		const found = this.#matching();
		this.head.replaceChildren(...columns.map((name) => element('th', { scope: 'col' }, name)));
		this.body.replaceChildren(...found.slice(0, ROWS).map((process) => this.#row(process, withMemory, withGpu)));
		this.note.textContent = found.length > ROWS ? `${ROWS} of ${found.length}; search for the others` :
			found.length ? '' : 'No such process';
	}

	#row(process, withMemory, withGpu) {
		const { pid, comm, unit, cpu_percent: cpu, rss_bytes: bytes, leak } = process;
		const onGpu = withGpu ? this.page.gpu.inUse(pid) : undefined;
		const chosen = this.page.store.state.pid === String(pid);
		return element('tr', { class: chosen ? 'chosen' : null },
			element('th', { scope: 'row' },
				element('button', {
					type: 'button', class: 'plain', 'aria-pressed': String(chosen), title: unit ? visible(unit) : null,
					on: { click: () => this.page.store.set({ pid: chosen ? '' : pid, thread: '' }) },
				}, visible(comm || '(no name)')),
				leak && element('span', { class: 'badge', title: 'its memory grows steadily' }, 'leak')),
			element('td', {}, String(pid)),
			element('td', {}, `${cpu.toFixed(1)} %`),
			withMemory && element('td', {}, bytes === null || bytes === undefined ? '' : formatValue(bytes, 'bytes')),
			withGpu && element('td', {}, onGpu === undefined ? '' : formatValue(onGpu, 'bytes')));
	}
}
