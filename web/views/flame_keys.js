// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/** Moves from node to node of a flame graph by keys. */

function firstChild(tree, node) {
	return node + 1 < tree.end[node] ? node + 1 : node;
}

function nextSibling(tree, node) {
	const parent = tree.parent[node], next = tree.end[node];
	return parent >= 0 && next < tree.end[parent] ? next : node;
}

function previousSibling(tree, node) {
	const parent = tree.parent[node];
	if (parent < 0 || node === parent + 1)
		return node;
	let at = parent + 1;
	while (tree.end[at] < node)
		at = tree.end[at];
	return at;
}

/* The leaf at the end of the heaviest path from a node. */
function hottestLeaf(tree, node) {
	let at = node;
	while (at + 1 < tree.end[at])
		at++;
	return at;
}

/**
 * @param {string} key KeyboardEvent.key
 * @param {boolean} upwards whether callees are above their callers
 * @returns {number | null} the target node; null for any other key
 */
export function moveTo(tree, node, key, upwards) {
	const parent = Math.max(tree.parent[node], 0);
	switch (key) {
	case 'ArrowDown': return upwards ? parent : firstChild(tree, node);
	case 'ArrowUp': return upwards ? firstChild(tree, node) : parent;
	case 'ArrowRight': return nextSibling(tree, node);
	case 'ArrowLeft': return previousSibling(tree, node);
	case 'Home': return 0;
	case 'End': return hottestLeaf(tree, node);
	default: return null;
	}
}

/** The next node in pre-order whose frame is marked, or the previous one; wraps around. */
export function nextMatch(tree, node, marks, step) {
	for (let i = 1; i <= tree.count; i++) {
		const at = (node + step * i + tree.count * 2) % tree.count;
		if (marks[tree.frame[at]])
			return at;
	}
	return node;
}
