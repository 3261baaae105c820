// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * A request that takes some seconds: a form, a progress bar and a button that cancels. Captures and heap
 * profiles both use it.
 */
import { element } from '../dom.js';

const TICK = 250; // milliseconds

export class Wait {
	/** @param {{announce: function(string)}} page */
	constructor(host, page) {
		this.page = page;
		this.bar = element('progress', { max: 1, value: 0 });
		this.text = element('span');
		this.stop = element('button', { type: 'button', on: { click: () => this.abort?.abort() } }, 'Cancel');
		this.box = element('div', { class: 'wait', hidden: true }, this.text, this.bar, this.stop);
		host.append(this.box);
	}

	/**
	 * Runs work(signal) and shows progress by the time that has passed.
	 * @returns {Promise<any>} undefined if the user cancelled it
	 */
	async run(what, seconds, work) {
		this.abort?.abort();
		const abort = this.abort = new AbortController(), start = performance.now();
		const show = () => {
			const gone = Math.min((performance.now() - start) / 1000, seconds);
			this.bar.value = seconds ? gone / seconds : 1;
			this.text.textContent = gone < seconds ? `${what}: ${Math.ceil(seconds - gone)} s left` : `${what}: almost there`;
		};
		const timer = setInterval(show, TICK);
		this.bar.setAttribute('aria-label', what);
		show();
		this.box.hidden = false;
		this.page.announce(`${what} for ${seconds} seconds`);
		try {
			return await work(abort.signal);
		} catch (error) {
			if (!abort.signal.aborted)
				throw error;
			this.page.announce(`${what}: cancelled`);
			return undefined;
		} finally {
			clearInterval(timer);
			if (this.abort === abort) {
				this.box.hidden = true;
				this.abort = null;
			}
		}
	}
}

/** A field for the seconds and the start button. */
export function captureForm(begin) {
	const seconds = element('input', {
		type: 'number', min: 1, max: 600, value: 30, required: true, class: 'narrow', 'aria-label': 'Seconds to capture' });
	return element('form', { class: 'capture', on: { submit: (event) => {
		event.preventDefault();
		begin(seconds.valueAsNumber);
	} } }, element('button', { type: 'submit', title: 'Profile the next N seconds' }, 'Capture'), seconds, ' s');
}
