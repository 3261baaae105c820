// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * The keys that work everywhere, and the dialog that lists them and the daemon's endpoints.
 */
import { element } from '../dom.js';

const KEYS = [
	['/', 'search'],
	['1 … 6', 'the views, from left to right'],
	['L', 'live on or off'],
	['T', 'light or dark'],
	['?', 'this list'],
	['on the timeline', 'arrows move, Shift and arrows choose, Enter shows, B compares, Escape clears'],
	['on a flame graph', 'arrows move, Enter zooms in, Escape zooms out'],
];

export class Help {
	/** @param {Object<string, function()>} actions by key */
	constructor(actions) {
		this.actions = { ...actions, '?': () => this.open() };
		this.index = element('pre', { tabIndex: 0 });
		this.dialog = element('dialog', { class: 'help', 'aria-labelledby': 'help-title' },
			element('h2', { id: 'help-title' }, 'Keys'),
			element('dl', {}, KEYS.map(([key, what]) => [element('dt', {}, element('kbd', {}, key)), element('dd', {}, what)])),
			element('h2', {}, 'Endpoints of the daemon'),
			element('p', {}, element('a', { href: 'help/' }, 'The manual pages')), this.index,
			element('form', { method: 'dialog' }, element('button', { type: 'submit' }, 'Close')));
		this.dialog.querySelector('form').addEventListener('submit', (event) => {
			event.preventDefault();
			this.dialog.close();
		});
		document.body.append(this.dialog);
		addEventListener('keydown', (event) => this.#key(event));
	}

	set text(text) {
		this.index.textContent = text;
	}

	open() {
		if (!this.dialog.open)
			this.dialog.showModal();
	}

	#key(event) {
		const typing = event.target.closest?.('input:not([type=checkbox]), select, textarea');
		if (typing || this.dialog.open || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented)
			return;
		const action = this.actions[event.key.toLowerCase()];
		if (!action)
			return;
		event.preventDefault();
		action();
	}
}
