// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * The list of views, as tabs: arrow keys move between them, and Tab stops only at the one shown.
 */
import { element } from '../dom.js';

export class Tabs {
	/** @param {Object<string, string>} views name -> title */
	constructor(host, views, panel, choose) {
		this.panel = panel;
		this.tabs = Object.entries(views).map(([name, title]) => element('button', {
			type: 'button', role: 'tab', id: `tab-${name}`, dataset: { name }, 'aria-controls': panel.id,
			on: { click: () => choose(name) },
		}, title));
		host.append(...this.tabs);
		host.addEventListener('keydown', (event) => this.#key(event));
	}

	#key(event) {
		const at = this.tabs.indexOf(document.activeElement), last = this.tabs.length - 1;
		const next = { ArrowRight: at === last ? 0 : at + 1, ArrowLeft: at ? at - 1 : last, Home: 0, End: last }[event.key];
		if (at < 0 || next === undefined)
			return;
		event.preventDefault();
		this.tabs[next].focus();
		this.tabs[next].click();
	}

	show(name) {
		for (const tab of this.tabs) {
			const chosen = tab.dataset.name === name;
			tab.setAttribute('aria-selected', String(chosen));
			tab.tabIndex = chosen ? 0 : -1;
		}
		this.panel.setAttribute('aria-labelledby', `tab-${name}`);
	}
}
