// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * The callers of a frame and its callees. Of a recursive frame only the outermost call counts, so the sum is the
 * frame's total.
 */
import { ROOT } from './frames.js';
import { TreeBuilder } from './tree.js';

/** Calls each(node) for every outermost call of a frame. */
export function forOutermost(tree, frame, each) {
	for (let node = 1; node < tree.count;) {
		if (tree.frame[node] === frame) {
			each(node);
			node = tree.end[node];
		} else {
			node++;
		}
	}
}

function add(builder, node, self, base, from) {
	builder.add(node, self[from], base ? base[from] : 0);
}

/** The callees of the frame: a tree whose first node is the frame. */
export function calleesOf(model, frame) {
	const { tree } = model, builder = new TreeBuilder(model.isDiff);
	const places = new Int32Array(tree.count);
	forOutermost(tree, frame, (top) => {
		for (let node = top; node < tree.end[top]; node++) {
			const parent = node === top ? 0 : places[tree.parent[node]];
			places[node] = builder.child(parent, tree.frame[node]);
			add(builder, places[node], tree.self, tree.baseSelf, node);
		}
	});
	return builder.finish(model.frames);
}

/** The callers of the frame: an inverted tree whose first node is the frame; children are callers. */
export function callersOf(model, frame) {
	const { tree } = model, builder = new TreeBuilder(model.isDiff);
	forOutermost(tree, frame, (top) => {
		let place = 0;
		for (let node = top; node > 0; node = tree.parent[node])
			place = builder.child(place, tree.frame[node]);
		add(builder, place, tree.total, tree.baseTotal, top);
	});
	return builder.finish(model.frames);
}

/**
 * All calls of a model as a graph: edges between frames with the value that passes over them. A path counts once
 * for an edge, however often the edge recurs on it. Recursion is an edge from a frame to itself.
 * @returns {Map<number, Map<number, {value: number, base: number}>>} by caller, by callee
 */
export function callEdges(model) {
	const { tree } = model, edges = new Map();
	const path = [];
	for (let node = 1; node < tree.count; node++) {
		const caller = tree.frame[tree.parent[node]], callee = tree.frame[node];
		path.length = tree.depth[node] - 1;
		if (caller === ROOT || path.some((edge) => edge?.caller === caller && edge.callee === callee)) {
			path.push(null);
			continue;
		}
		path.push({ caller, callee });
		const callees = edges.get(caller) ?? edges.set(caller, new Map()).get(caller);
		const edge = callees.get(callee) ?? callees.set(callee, { value: 0, base: 0 }).get(callee);
		edge.value += tree.total[node];
		edge.base += tree.baseTotal ? tree.baseTotal[node] : 0;
	}
	return edges;
}
