// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * The call tree as an outline: the heaviest nodes are open at first, the others open on demand. It is an ARIA tree
 * with elements for the visible rows only.
 */
import { element, visible } from '../dom.js';
import { formatDelta, formatShare, formatValue } from '../profile/format.js';
import { matchFrames } from '../profile/search.js';
import { forChildren } from '../profile/tree.js';
import { Details } from './details.js';
import { nodeFacts, placeOf } from './describe.js';
import { VirtualList } from './virtual_list.js';

export const title = 'Tree';
const ROW_HEIGHT = 24;
const OPEN_SHARE = 0.03; /* of the whole: nodes above this share are open at first ... */
const OPEN_NODES = 120;  /* ... up to this number, the heaviest path first */
const INDENT = 14;
const MAX_INDENT = 40; /* levels */
const MATCHES_OPENED = 200;

/** Opens the nodes on the way to what a search finds. */
function openMatches(tree, open, marks) {
	let left = MATCHES_OPENED;
	for (let node = 1; node < tree.count && left; node++) {
		if (!marks[tree.frame[node]])
			continue;
		left--;
		for (let at = tree.parent[node]; at >= 0; at = tree.parent[at])
			open[at] = 1;
	}
}

/* Pre-order visits the heaviest path first. */
function openHot(tree, open) {
	const least = tree.weight[0] * OPEN_SHARE;
	let left = OPEN_NODES;
	for (let node = 0; node < tree.count && left;) {
		if (tree.weight[node] < least) {
			node = tree.end[node];
			continue;
		}
		open[node++] = 1;
		left--;
	}
}

/* Nodes that were open stay open when a new profile replaces the old one. */
function openAsBefore(before, opened, model, open) {
	const pairs = [[0, 0]];
	while (pairs.length) {
		const [old, now] = pairs.pop(), names = new Map();
		open[now] = opened[old];
		if (!opened[old])
			continue;
		forChildren(model.tree, now, (child) => names.set(model.frames.name[model.tree.frame[child]], child));
		forChildren(before.tree, old, (child) => {
			const same = names.get(before.frames.name[before.tree.frame[child]]);
			if (same)
				pairs.push([child, same]);
		});
	}
}

class TreeView {
	constructor(host, context) {
		this.context = context;
		this.body = element('div', {
			class: 'tree', role: 'tree', 'aria-label': 'Call tree',
			on: { click: (event) => this.#click(event), keydown: (event) => this.#keyDown(event) },
		});
		this.box = element('div', { class: 'rows-box' }, this.body);
		this.details = new Details(context);
		this.header = element('div', { class: 'tree-row tree-head', 'aria-hidden': 'true' });
		this.root = element('div', { class: 'table-view' }, this.header, this.box, this.details.node);
		host.append(this.root);
		this.list = new VirtualList(this.box, this.body, {
			height: ROW_HEIGHT,
			row: (index) => this.#row(index),
			spacer: () => element('div', { role: 'presentation' }),
		});
	}

	show(model) {
		const { search } = this.context.state;
		const fresh = model !== this.model;
		if (fresh) {
			this.#open(model);
			this.model = model;
			const labels = model.isDiff ? ['Base', 'New', 'Change'] : ['Total', 'Total %', 'Self'];
			this.header.replaceChildren(...labels.map(
				(label) => element('span', { class: 'number' }, label)), element('span', {}, 'Call'));
		}
		this.marks = matchFrames(model.frames, search);
		if (this.marks && (fresh || search !== this.search))
			openMatches(model.tree, this.open, this.marks);
		this.search = search;
		this.#list(this.list.active);
	}

	#open(model) {
		const before = this.model, opened = this.open;
		this.open = new Uint8Array(model.tree.count);
		openHot(model.tree, this.open);
		if (before)
			openAsBefore(before, opened, model, this.open);
	}

	/* Lists the rows: the nodes all of whose callers are open. */
	#list(active) {
		const { tree } = this.model, nodes = [];
		for (let node = 1; node < tree.count;) {
			nodes.push(node);
			node = this.open[node] ? node + 1 : tree.end[node];
		}
		this.nodes = nodes;
		this.list.reset(nodes.length, active);
		this.#showDetails();
	}

	#row(index) {
		const node = this.nodes[index], { tree } = this.model;
		const frame = tree.frame[node], leaf = tree.end[node] === node + 1;
		const sizes = this.#siblings(node);
		const row = element('div', {
			class: 'tree-row', role: 'treeitem', 'aria-level': tree.depth[node],
			'aria-expanded': leaf ? null : String(Boolean(this.open[node])),
			'aria-selected': String(index === this.list.active),
			'aria-posinset': sizes.at, 'aria-setsize': sizes.count,
		}, this.#numbers(node), this.#name(node, frame, leaf));
		row.querySelector('.number').style.setProperty('--part',
			`${100 * tree.weight[node] / (tree.weight[0] || 1)}%`);
		return row;
	}

	#numbers(node) {
		const { tree, unit, total: whole, isDiff } = this.model, total = tree.total[node];
		const change = isDiff ? total - tree.baseTotal[node] : 0;
		const texts = isDiff ?
			[formatValue(tree.baseTotal[node], unit), formatValue(total, unit), formatDelta(change, unit)] :
			[formatValue(total, unit), formatShare(total, whole), formatValue(tree.self[node], unit)];
		const last = change > 0 ? 'number more' : change < 0 ? 'number less' : 'number';
		return texts.map((text, i) => element('span', { class: i === 2 ? last : 'number' }, text));
	}

	#name(node, frame, leaf) {
		const { frames, tree } = this.model;
		const name = element('span', { class: 'tree-name' },
			element('span', { class: 'twisty', 'aria-hidden': 'true' },
				leaf ? '' : this.open[node] ? '▾' : '▸'),
			element(this.marks?.[frame] ? 'mark' : 'span', {}, visible(frames.name[frame])),
			element('span', { class: 'dim place' }, placeOf(frames, frame)));
		name.style.paddingLeft = `${Math.min(tree.depth[node] - 1, MAX_INDENT) * INDENT}px`;
		return name;
	}

	#siblings(node) {
		const { tree } = this.model;
		let count = 0, at = 0;
		forChildren(tree, tree.parent[node], (child) => {
			count++;
			if (child === node)
				at = count;
		});
		return { count, at };
	}

	#showDetails() {
		const { tree } = this.model, node = this.nodes[this.list.active];
		if (node === undefined)
			return this.details.clear();
		this.details.show(this.model, tree.frame[node], nodeFacts(this.model, tree, node));
	}

	#toggle(index, open) {
		const node = this.nodes[index];
		this.open[node] = open ? 1 : 0;
		this.#list(index);
	}

	/* Also opens the children below as long as each is an only child, which saves clicks through a chain. */
	#openChain(index) {
		const { tree } = this.model;
		let node = this.nodes[index];
		do
			this.open[node] = 1;
		while (node + 1 < tree.end[node] && tree.end[node + 1] === tree.end[node] && ++node);
		this.#list(index);
	}

	#click(event) {
		const row = event.target.closest('[data-index]');
		if (!row)
			return;
		const index = Number(row.dataset.index), node = this.nodes[index];
		this.list.active = index;
		if (this.open[node])
			this.#toggle(index, false);
		else
			this.#openChain(index);
		this.#go(index);
	}

	#go(index) {
		const { frames, tree } = this.model;
		this.list.go(index);
		this.#showDetails();
		this.context.set({ focus: frames.name[tree.frame[this.nodes[this.list.active]]] }, { replace: true });
	}

	#keyDown(event) {
		if (event.ctrlKey || event.altKey || event.metaKey || !this.nodes.length)
			return;
		const index = this.list.active, node = this.nodes[index], { tree } = this.model;
		const target = this.list.target(event.key);
		const isOpen = this.open[node] && tree.end[node] > node + 1;
		if (target !== null)
			this.#go(target);
		else if (event.key === 'ArrowRight' && isOpen)
			this.#go(index + 1);
		else if (event.key === 'ArrowRight')
			this.#openChain(index);
		else if (event.key === 'ArrowLeft' && isOpen)
			this.#toggle(index, false);
		else if (event.key === 'ArrowLeft' && tree.parent[node] > 0)
			this.#go(this.nodes.indexOf(tree.parent[node]));
		else if (event.key === 'Enter' || event.key === ' ')
			this.#toggle(index, !isOpen);
		else
			return;
		event.preventDefault();
	}

	resize() {
		this.list.update();
	}

	destroy() {
		this.list.destroy();
		this.root.remove();
	}
}

export function createView(host, context) {
	return new TreeView(host, context);
}
