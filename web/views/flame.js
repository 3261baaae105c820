// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/** The flame graph of a model: the chart, its zoom path, the search result and the chosen frame. */
import { element, visible } from '../dom.js';
import { formatShare, formatValue } from '../profile/format.js';
import { matchedTotal } from '../profile/search.js';
import { choice, toggle } from './controls.js';
import { nodeFacts } from './describe.js';
import { Details } from './details.js';
import { FlameChart } from './flame_chart.js';
import { flamePng, flameSvg } from './flame_export.js';
import { pathOf } from './layout.js';
import { lookOf } from './look.js';
import { legendOf } from './palette.js';
import { readPath, writePath } from './zoom_path.js';

export const title = 'Flame graph';
const MAX_CRUMBS = 8;

class FlameView {
	constructor(host, context) {
		this.context = context;
		this.colour = choice(context, 'colour', 'Colour',
			[['auto', 'automatic'], ['binary', 'binary'], ['kind', 'kind'], ['value', 'self'], ['state', 'state']]);
		this.invert = toggle(context, 'invert', 'Upwards');
		this.matched = element('output', { class: 'matched' });
		this.legend = element('ul', { class: 'legend', 'aria-label': 'Legend' });
		this.crumbs = element('ol', { class: 'crumbs' });
		this.details = new Details(context);
		this.bar = element('div', { class: 'view-bar' }, this.colour.node, this.invert.node,
			this.legend, this.matched);
		this.root = element('div', { class: 'flame' }, this.bar,
			element('nav', { 'aria-label': 'Path' }, this.crumbs));
		host.append(this.root);
		this.chart = new FlameChart(this.root, context, {
			label: 'Flame graph. Arrow keys move, Enter zooms in, Escape zooms out. ' +
				'The table view has the same numbers.',
			onZoom: (node) => this.#onZoom(node),
			onCursor: (node) => this.#showDetails(node),
		});
		this.root.append(this.details.node);
	}

	show(model) {
		const { state, colours } = this.context;
		const fresh = model !== this.model;
		this.model = model;
		this.look = lookOf(model, this.context, state.invert === '1');
		this.colour.update();
		this.colour.node.hidden = model.isDiff;
		this.invert.update();
		this.legend.replaceChildren(...legendOf(model, state.colour, colours.dark).map(
			({ label, fill }) => element('li', {}, swatch(fill), label)));
		this.#showMatched();
		this.chart.show(model, model.tree, this.look);
		if (fresh || (state.zoom ?? '') !== this.zoom)
			this.#readZoom();
		this.#showCrumbs();
		this.#showDetails(Math.max(this.chart.cursor, 0));
	}

	#readZoom() {
		this.zoom = this.context.state.zoom ?? '';
		const node = readPath(this.model, this.model.tree, this.zoom);
		if (node !== this.chart.zoomed)
			this.chart.zoom(node, { quiet: true });
	}

	#onZoom(node) {
		const { model } = this;
		this.zoom = writePath(model, model.tree, node);
		this.context.set(node > 0 ?
			{ zoom: this.zoom, focus: model.frames.name[model.tree.frame[node]] } : { zoom: '' });
		this.#showCrumbs();
		this.#showDetails(this.chart.cursor);
	}

	#showMatched() {
		const { model, look } = this;
		this.matched.textContent = '';
		if (!look.marks)
			return;
		const value = matchedTotal(model.tree, look.marks);
		this.matched.textContent =
			`matched ${formatShare(value, model.total)}, ${formatValue(value, model.unit)}`;
	}

	#showCrumbs() {
		const { tree, frames } = this.model, path = pathOf(tree, this.chart.zoomed);
		const shown = path.length > MAX_CRUMBS ? [0, ...path.slice(1 - MAX_CRUMBS)] : path;
		this.crumbs.replaceChildren(...shown.map((node, i) => element('li', {},
			i === 1 && shown !== path ? '… ' : null,
			element('button', {
				type: 'button',
				'aria-current': node === this.chart.zoomed ? 'true' : null,
				on: { click: () => this.chart.zoom(node) },
			}, visible(frames.name[tree.frame[node]])))));
	}

	#showDetails(node) {
		const { model } = this, { tree } = model;
		this.details.show(model, tree.frame[node], nodeFacts(model, tree, node));
	}

	resize() {
		this.chart.resize();
	}

	destroy() {
		this.chart.destroy();
		this.root.remove();
	}

	toSvg() {
		return flameSvg(this.model, this.chart, this.look);
	}

	toPng() {
		return flamePng(this.model, this.chart, this.look);
	}
}

/** A small spot of colour, for the legend. */
function swatch(fill) {
	const spot = element('span', { class: 'swatch', 'aria-hidden': 'true' });
	spot.style.backgroundColor = fill;
	return spot;
}

export function createView(host, context) {
	return new FlameView(host, context);
}
