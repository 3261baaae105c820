// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * Heap profiles of one process on demand, and the profiles kept of processes that ran out of memory. Only a
 * daemon that watches memory has them.
 */
import { element, visible } from '../dom.js';
import { formatValue } from '../profile/format.js';
import { getBytes, getJson } from './daemon.js';

/** A form that asks for the heap of one process. `open(name, bytes)` shows it; a refusal appears below the form. */
export class HeapForm {
	constructor(host, { store, wait, open }) {
		this.store = store;
		this.wait = wait;
		this.open = open;
		this.pid = element('input', { type: 'text', inputMode: 'numeric', pattern: '[0-9]{1,7}', size: 7, required: true });
		this.seconds = element('input', { type: 'number', min: 1, max: 600, value: 10, required: true, class: 'narrow' });
		this.leaks = this.#instead(() => this.peak);
		this.peak = this.#instead(() => this.leaks);
		this.force = element('input', { type: 'checkbox' });
		this.refusal = element('p', { class: 'warning', role: 'alert' });
		host.append(element('form', { class: 'heap', on: { submit: (event) => this.#ask(event) } },
			element('label', {}, 'PID ', this.pid), element('label', {}, 'Seconds ', this.seconds),
			element('label', {}, this.leaks, ' Only what is not freed'),
			element('label', {}, this.peak, ' When it held the most'),
			element('label', {}, this.force, ' Even if the cost is high'),
			element('button', { type: 'submit' }, 'Watch')), this.refusal);
	}

	/* A box that clears the other one, since the two exclude each other. */
	#instead(other) {
		return element('input', { type: 'checkbox', on: { change: () => { other().checked = false; } } });
	}

	show() {
		if (document.activeElement !== this.pid && this.store.state.pid)
			this.pid.value = this.store.state.pid;
	}

	async #ask(event) {
		event.preventDefault();
		const pid = this.pid.value, seconds = this.seconds.valueAsNumber;
		const address = `heap?pid=${pid}&seconds=${seconds}` +
			(this.leaks.checked ? '&leaks=1' : '') + (this.peak.checked ? '&peak=1' : '') + (this.force.checked ? '&force=1' : '');
		this.refusal.textContent = '';
		try {
			const bytes = await this.wait.run(`Watching the heap of ${pid}`, seconds, (signal) => getBytes(address, { signal }));
			if (bytes)
				await this.open(`heap-of-${pid}.pb.gz`, bytes);
		} catch (error) {
			this.refusal.textContent = visible(error.message);
		}
	}
}

/** The list of profiles kept of processes that ran out of memory. */
export class Keepsakes {
	constructor(section, { open, failed }) {
		this.section = section;
		this.open = open;
		this.failed = failed;
		this.list = element('ul');
		section.append(element('h2', {}, 'Out of memory, or near it'), this.list);
	}

	async refresh() {
		let kept = [];
		try {
			kept = await getJson('oom');
		} catch {
			/* The list stays empty. */
		}
		this.section.hidden = !kept.length;
		if (this.list.contains(document.activeElement))
			return;
		this.list.replaceChildren(...kept.map((one) => element('li', {}, element('button', {
			type: 'button', class: 'plain', on: { click: () => this.#show(one) },
		}, `${visible(one.comm)} (${one.pid})`),
		` ${visible(one.reason)}, ${formatValue(one.bytes, 'bytes')}, ${new Date(one.when_unix_ms).toLocaleString()}`)));
	}

	async #show({ id, comm }) {
		try {
			await this.open(`out-of-memory-${comm}.pb.gz`, await getBytes(`oom?id=${id}`));
		} catch (error) {
			this.failed(error);
		}
	}
}
