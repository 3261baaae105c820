// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * The places of the boxes of a flame graph. Horizontally, in units of weight: a node begins at the start of its
 * parent, after the siblings before it. Vertically, in rows: a node's depth.
 */

/** Boxes narrower than this are not drawn, nor are their children. */
const MIN_PIXELS = 0.4;

/** The start of each node. */
export function startsOf(tree) {
	const starts = new Float64Array(tree.count);
	/* The start of the next child of each node. */
	const next = new Float64Array(tree.count);
	for (let node = 1; node < tree.count; node++) {
		const parent = tree.parent[node];
		starts[node] = next[parent];
		next[node] = starts[node];
		next[parent] += tree.weight[node];
	}
	return starts;
}

/**
 * Calls each(node, x, width) for the visible nodes of a tree, in pre-order.
 * @param {{from: number, to: number}} range the visible range, in units of weight
 * @param {number} pixels the width of that range
 * @param {number} first @param {number} last the visible rows
 */
export function forVisible(tree, starts, range, pixels, first, last, each) {
	const scale = pixels / (range.to - range.from);
	const minWeight = MIN_PIXELS / scale;
	for (let node = 0; node < tree.count;) {
		const start = starts[node], weight = tree.weight[node], depth = tree.depth[node];
		if (weight < minWeight || start + weight <= range.from || start >= range.to || depth > last) {
			node = tree.end[node];
			continue;
		}
		if (depth >= first) {
			const left = Math.max(0, (start - range.from) * scale);
			const right = Math.min(pixels, (start + weight - range.from) * scale);
			each(node, left, right - left);
		}
		node++;
	}
}

/** The node at a place, or -1. */
export function nodeAt(tree, starts, at, depth) {
	let node = 0;
	if (depth < 0 || at < 0 || at >= tree.weight[0])
		return -1;
	while (tree.depth[node] < depth) {
		let child = node + 1;
		while (child < tree.end[node] && at >= starts[child] + tree.weight[child])
			child = tree.end[child];
		if (child >= tree.end[node] || at < starts[child])
			return -1;
		node = child;
	}
	return node;
}

/** Nodes from the root to this one. */
export function pathOf(tree, node) {
	const path = [];
	for (let at = node; at >= 0; at = tree.parent[at])
		path.push(at);
	return path.reverse();
}
