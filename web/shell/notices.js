// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * Messages of the page: errors, the reason why there is nothing to show, and announcements to screen readers.
 */
import { element, visible } from '../dom.js';

export class Notices {
	/** @param {{alert: Element, empty: Element, live: Element}} hosts */
	constructor(hosts) {
		this.hosts = hosts;
	}

	announce(text) {
		this.hosts.live.textContent = visible(text);
	}

	/** Shows an error in one line, with a button to dismiss it and, given `retry`, one to try again. */
	error(error, retry) {
		console.warn(error);
		const { alert } = this.hosts;
		alert.replaceChildren(visible(error.message),
			...(retry ? [element('button', { type: 'button', on: { click: retry } }, 'Try again')] : []),
			element('button', { type: 'button', on: { click: () => this.clear() } }, 'Dismiss'));
		alert.hidden = false;
	}

	clear() {
		this.hosts.alert.hidden = true;
		this.hosts.alert.replaceChildren();
	}

	/** Shows why there is no view; '' while there is one. */
	empty(text, ...more) {
		this.hosts.empty.hidden = !text;
		this.hosts.empty.replaceChildren(...(text ? [element('p', {}, text), ...more] : []));
	}
}
