// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * GPUs: their load and memory use as the driver reports them, and the memory, launches and waits of processes.
 * Hidden while there is neither a device nor a process that uses one.
 */
import { element, visible } from '../dom.js';
import { formatValue } from '../profile/format.js';
import { getJson } from './daemon.js';

const COLUMNS = ['Process', 'Device', 'Memory', 'Launches/s', 'Waits'];

function bar(label, value, max, text) {
	return element('div', { class: 'gpu-bar' }, element('span', {}, label),
		element('progress', { max, value, 'aria-label': label }), element('span', {}, text));
}

function device({ index, name, memory_bytes: total, memory_used_bytes: used, busy_percent: busy }) {
	const title = `${index} ${visible(name)}`;
	return element('li', {}, element('strong', {}, title),
		busy !== null && bar(`Busy, device ${index}`, busy, 100, `${busy} %`),
		total > 0 && used !== null && bar(`Memory, device ${index}`, used, total,
			`${formatValue(used, 'bytes')} of ${formatValue(total, 'bytes')}`));
}

function row(process) {
	const { pid, comm, device: on, in_use_bytes: bytes, launches_per_second: launches, wait_share: wait } = process;
	return element('tr', {},
		element('th', { scope: 'row' }, `${visible(comm || '(no name)')} (${pid})`),
		...[visible(on), formatValue(bytes, 'bytes'), launches.toFixed(0), `${(wait * 100).toFixed(0)} %`]
			.map((text) => element('td', {}, text)));
}

export class Gpu {
	#inUse = new Map();

	constructor(section) {
		this.section = section;
		this.devices = element('ul', { class: 'gpu-devices' });
		this.note = element('p', { class: 'dim' });
		this.body = element('tbody');
		section.append(element('h2', {}, 'GPUs'), this.devices, this.note,
			element('div', { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Processes on GPUs' },
				element('table', { class: 'processes' }, element('thead', {},
					element('tr', {}, ...COLUMNS.map((name) => element('th', { scope: 'col' }, name)))), this.body)));
	}

	/** Bytes that a process holds on all devices together; undefined for a process that uses none. */
	inUse(pid) {
		return this.#inUse.get(pid);
	}

	get any() {
		return this.#inUse.size > 0;
	}

	async refresh() {
		let answer;
		try {
			answer = await getJson('gpu');
		} catch (error) {
			this.note.textContent = visible(error.message);
			return;
		}
		const { processes, devices, nvml } = answer;
		this.#inUse = new Map();
		for (const { pid, in_use_bytes: bytes } of processes)
			this.#inUse.set(pid, (this.#inUse.get(pid) ?? 0) + bytes);
		this.section.hidden = !processes.length && !devices.length;
		this.devices.replaceChildren(...devices.map(device));
		this.note.textContent = nvml.on ? '' : `The driver's figures are not available: ${visible(nvml.why)}`;
		this.body.replaceChildren(...processes.map(row));
	}
}
