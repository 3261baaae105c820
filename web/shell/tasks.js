// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * What asyncio's tasks of the chosen process wait for now. The daemon reads them from the process's memory each time, so
 * they are asked for once a process is chosen, and again while the list is open. Hidden where there are none. To be
 * refreshed after the list of processes.
 */
import { element, visible } from '../dom.js';
import { getJson } from './daemon.js';

const COLUMNS = ['Tasks', 'State', 'Names', 'Functions'];
const number = (count, what) => `${count} ${what}${count === 1 ? '' : 's'}`;

function row({ count, state, names, awaits, frames, cut }) {
	const place = ({ function: name, file, line }) => element('li', {}, visible(name), ' ', element('span', { class: 'dim' },
		visible(`${file}:${line}`)));
	return element('tr', {}, element('td', {}, count), element('td', {}, visible(state)),
		element('th', { scope: 'row' }, visible(names.join(', ') + (count > names.length ? ', …' : ''))),
		element('td', {}, element('ol', { class: 'task-frames' }, ...frames.map(place), cut && element('li', {}, '…'),
			awaits.length > 0 && element('li', {}, visible(`waits for ${awaits.join(', ')}`)))));
}

export class Tasks {
	#asked = 0;
	#pid = '';

	/** @param {{store: Store, source: Source, processes: function()}} page */
	constructor(section, page) {
		this.page = page;
		this.section = section;
		this.title = element('span');
		this.facts = element('p', { class: 'dim' });
		this.body = element('tbody');
		this.list = element('details', { on: { toggle: () => this.list.open && this.#read() } },
			element('summary', {}, this.title), this.facts,
			element('div', { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Tasks' },
				element('table', {}, element('thead', {}, element('tr', {},
					...COLUMNS.map((name) => element('th', { scope: 'col' }, name)))), this.body)));
		section.append(this.list);
	}

	async refresh() {
		const { pid: chosen } = this.page.store.state;
		const may = this.page.processes().some(({ pid, tasks }) => tasks && String(pid) === chosen);
		const pid = may && !this.page.source.isFile ? chosen : '';
		if (pid === this.#pid && !this.list.open)
			return;
		if (pid !== this.#pid)
			this.section.hidden = true;
		this.#pid = pid;
		await this.#read();
	}

	/* A process that is not shown here has no tasks, or cannot be read now. */
	async #read() {
		const pid = this.#pid, asked = ++this.#asked;
		if (!pid)
			return;
		try {
			const answer = await getJson(`tasks?${new URLSearchParams({ pid, format: 'json' })}`);
			if (asked === this.#asked)
				this.#show(answer);
		} catch (error) {
			if (asked === this.#asked)
				this.facts.textContent = visible(error.message);
		}
	}

	#show({ pid, runtime, runtime_version: version, tasks, left_out: leftOut, incomplete, groups }) {
		this.title.textContent = `${number(tasks, 'task')} of process ${pid}`;
		this.facts.textContent = visible(`${runtime} ${version}`) + (leftOut ? ` · up to ${leftOut} more are left out` : '') +
			(incomplete ? ' · not all could be read' : '');
		this.body.replaceChildren(...groups.map(row));
		this.section.hidden = !tasks;
	}
}
