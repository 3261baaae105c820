// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * The overhead of profd on this host, in one line; opening the line shows its parts.
 */
import { element } from '../dom.js';
import { formatValue } from '../profile/format.js';
import { getJson } from './daemon.js';

const PARTS = {
	daemon: 'Daemon', readers: 'Reader processes', bpf: 'BPF programs, while they take samples',
	maps: 'BPF maps', rings: 'Perf ring buffers',
};
const COLUMNS = ['Part', 'CPU, last minute', 'CPU, since the start', 'Memory'];

const sum = (parts) => Object.values(parts).reduce((total, value) => total + value, 0);

/* One digit more than shares of a profile have, since the value is mostly below a tenth. */
function percentText(value) {
	return value > 0 && value < 0.01 ? '<0.01 %' : `${value.toFixed(value < 10 ? 2 : 1)} %`;
}

function groupText({ bytes, kernel_bytes: kernel }) {
	const part = kernel === null ? '' : `, of which ${formatValue(kernel, 'bytes')} kernel memory`;
	return `Memory charged to its control group, page cache included: ${formatValue(bytes, 'bytes')}${part}.`;
}

export class Cost {
	constructor(host) {
		this.host = host;
		this.line = element('summary', { title: 'CPU time of the last minute, and memory; expand to show the parts' });
		this.body = element('tbody');
		this.group = element('p');
		host.append(this.line, element('div', { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Overhead of profd' },
			element('table', {}, element('thead', {},
				element('tr', {}, ...COLUMNS.map((name) => element('th', { scope: 'col' }, name)))), this.body)), this.group);
	}

	async refresh() {
		try {
			this.show((await getJson('status')).cost);
		} catch {
			/* The other requests of the same refresh report the error. */
		}
	}

	/** @param {object} cost the `cost` of /status */
	show(cost) {
		const { cpu_percent: percent, memory_bytes: memory, control_group: group } = cost;
		this.line.textContent = `profd itself: ${percentText(sum(percent))} of a CPU, ${formatValue(sum(memory), 'bytes')}`;
		this.body.replaceChildren(...Object.keys(PARTS).map((part) => this.#row(part, cost)));
		this.group.textContent = group ? groupText(group) : '';
		this.host.hidden = false;
	}

	#row(part, { cpu_percent: percent, cpu_seconds: seconds, memory_bytes: memory }) {
		return element('tr', {}, element('th', { scope: 'row' }, PARTS[part]),
			element('td', {}, part in percent ? percentText(percent[part]) : ''),
			element('td', {}, part in seconds ? formatValue(seconds[part] * 1e9, 'nanoseconds') : ''),
			element('td', {}, part in memory ? formatValue(memory[part], 'bytes') : ''));
	}
}
