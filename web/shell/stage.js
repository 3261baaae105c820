// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * Holds the view: creates it when it is first shown, and destroys it when another one is chosen.
 */
import { element } from '../dom.js';
import * as flame from '../views/flame.js';
import * as graph from '../views/graph.js';
import * as sandwich from '../views/sandwich.js';
import * as source from '../views/source.js';
import * as table from '../views/table.js';
import * as tree from '../views/tree.js';

const VIEWS = { flame, table, tree, sandwich, graph, source };

export class Stage {
	#shown = null;

	/** @param {{store: Store, colours: Theme, announce: function(string), getJson: function(string)}} page */
	constructor(panel, { store, colours, announce, getJson }) {
		this.panel = panel;
		this.view = null;
		this.context = {
			get state() { return store.state; },
			set: (change, options) => store.set(change, options),
			announce, colours, getJson,
		};
		new ResizeObserver(() => this.view?.resize()).observe(panel);
	}

	/** name -> title, in the order of the tabs. */
	get titles() {
		return Object.fromEntries(Object.entries(VIEWS).map(([name, { title }]) => [name, title]));
	}

	/** The name of the view for the state's `view`. */
	name(view) {
		return Object.hasOwn(VIEWS, view) ? view : 'flame';
	}

	show(model, name = this.#shown) {
		if (!name)
			return;
		if (name !== this.#shown) {
			this.view?.destroy();
			const host = element('div', { class: `view view-${name}` });
			this.panel.replaceChildren(host);
			this.#shown = name;
			this.view = VIEWS[name].createView(host, this.context);
		}
		this.view.show(model);
	}
}
