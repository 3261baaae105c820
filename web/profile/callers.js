// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * Who calls a frame, and what it calls. Of a frame that recurs only its outermost call counts, so that
 * the sum is the frame's total.
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

/** What the frame calls: a tree whose first node is the frame. */
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

/** Who calls the frame: a tree upside down whose first node is the frame, and whose children call it. */
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
 * The calls around a frame as a graph: edges between frames with what passed over them, each once for
 * a path. Recursion is an edge from a frame to itself.
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
