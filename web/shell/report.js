// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * What limits the chosen process: the verdict of /report, and how the time of its threads divides. Hidden while no
 * process is chosen, and for files. It is of the chosen time up to now, also while the profile stands still.
 */
import { element, visible } from '../dom.js';
import { getJson } from './daemon.js';
import { DEFAULT_LAST } from './source.js';
import { clockTime } from './timeline_data.js';

const percent = (share) => `${(100 * share).toFixed(1)} %`;

function activity({ title, share, error }) {
	const range = error > 0 ? ` ± ${(100 * error).toFixed(1)}` : '';
	return element('li', { class: 'report-part' }, element('span', {}, visible(title)),
		element('progress', { max: 1, value: share, 'aria-label': visible(title) }), element('span', {}, percent(share) + range));
}

function place({ stack, share, speedup }) {
	const gain = speedup === null || speedup >= 1000 ? '> 1000 ×' : `${speedup.toFixed(2)} ×`;
	return element('tr', {}, element('td', {}, percent(share)), element('td', {}, gain),
		element('th', { scope: 'row' }, visible(stack)));
}

export class Report {
	#asked = 0;

	/** @param {{store: Store, source: Source}} page */
	constructor(section, page) {
		this.page = page;
		this.section = section;
		this.title = element('h2');
		this.verdict = element('p', { class: 'report-verdict' });
		this.facts = element('p', { class: 'dim' });
		this.parts = element('ul', { class: 'report-parts' });
		this.body = element('tbody');
		this.places = element('details', {}, element('summary', {}, 'Where, and what it would gain at most if that took no time'),
			element('div', { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Stacks behind the verdict' },
				element('table', {}, element('thead', {}, element('tr', {},
					...['Share', 'Gain', 'Innermost functions'].map((name) => element('th', { scope: 'col' }, name)))), this.body)));
		section.append(this.title, this.verdict, this.facts, this.parts, this.places);
	}

	#query() {
		const { pid, thread, last, from, to } = this.page.store.state;
		const time = from ? { from, to } : { last: last || DEFAULT_LAST };
		return new URLSearchParams({ pid, ...(thread && { tid: thread }), ...time, format: 'json' });
	}

	async refresh() {
		const { pid } = this.page.store.state, asked = ++this.#asked;
		if (!pid || this.page.source.isFile) {
			this.section.hidden = true;
			return;
		}
		try {
			const answer = await getJson(`report?${this.#query()}`);
			if (asked === this.#asked)
				this.#show(pid, answer);
		} catch (error) {
			if (asked === this.#asked)
				this.#fail(error);
		}
	}

	/* 404: the process is not known, or not in that time. */
	#fail(error) {
		this.section.hidden = error.status === 404;
		this.verdict.textContent = visible(error.message);
		this.facts.textContent = '';
		this.parts.replaceChildren();
		this.places.hidden = true;
	}

	#show(pid, answer) {
		const { threads, idle_threads: idle, cpus, working_seconds: working, waiting_for_work_seconds: waiting } = answer;
		const since = clockTime(answer.start_ms / 1000), until = clockTime(answer.start_ms / 1000 + answer.seconds);
		this.title.textContent = `What limits process ${pid}`;
		this.verdict.textContent = visible(answer.verdict);
		this.facts.textContent = `${since} to ${until} · ${cpus.toFixed(2)} CPUs in use · ${working.toFixed(1)} s of ${threads - idle} ` +
			`${threads - idle === 1 ? 'thread' : 'threads'} · left out: ${idle} idle, ${waiting.toFixed(1)} s waiting for work` +
			(answer.incomplete && ` · ${visible(answer.incomplete)}`);
		this.parts.replaceChildren(...Object.values(answer.activities).filter(({ share }) => share >= 0.001)
			.sort((a, b) => b.share - a.share).map(activity));
		this.body.replaceChildren(...answer.places.map(place));
		this.places.hidden = !answer.places.length;
		this.section.hidden = false;
	}
}
