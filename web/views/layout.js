// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * Where the boxes of a flame graph are. Across, in units of weight: a node begins where its parent does,
 * behind the siblings before it. Down, in rows: a node's depth.
 */

/** Narrower boxes are not drawn, nor what is above them. */
const MIN_PIXELS = 0.4;

/** Where each node begins. */
export function startsOf(tree) {
	const starts = new Float64Array(tree.count);
	/* Where the next child of each node begins. */
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
 * Calls each(node, x, width) for what is seen of a tree, in pre-order.
 * @param {{from: number, to: number}} range what of the weight is seen, from edge to edge
 * @param {number} pixels how wide that is
 * @param {number} first @param {number} last rows that are seen
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
