// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * What the page has to say: errors and why there is nothing to see, and to screen readers what happened.
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

	/** One line, and what can be done about it. */
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

	/** Why no view is shown; '' when one is. */
	empty(text, ...more) {
		this.hosts.empty.hidden = !text;
		this.hosts.empty.replaceChildren(...(text ? [element('p', {}, text), ...more] : []));
	}
}
