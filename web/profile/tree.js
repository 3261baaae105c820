// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * Call trees in columns. While a tree is built, nodes are found by parent and frame. Then the nodes are sorted in
 * pre-order, the heaviest child first, so that a subtree is the range from a node to its end.
 *
 * A Tree has, by node (0 is the root):
 *   parent, frame, depth, end    the subtree of node i is [i, end[i])
 *   self, total                  values; in a diff also baseSelf and baseTotal
 *   weight                       gives widths: total if all values have the same sign and there is no base,
 *                                else the sum of the magnitudes, so that children are never wider than their
 *                                parent
 *   state                        what its threads do most of the time (states.js), if the samples say so
 * and count, maxDepth.
 */
import { Column } from './columns.js';
import { STATES, nodeStates } from './states.js';

const NOBODY = -1;

/** Builds a tree path by path. */
export class TreeBuilder {
	/** @param {boolean} isDiff whether the tree also has values of a base; hasStates: whether samples have states */
	constructor(isDiff = false, hasStates = false) {
		this.parent = new Column(Int32Array);
		this.frame = new Column(Uint32Array);
		this.self = new Column(Float64Array);
		this.baseSelf = isDiff ? new Column(Float64Array) : null;
		this.magnitude = new Column(Float64Array);
		this.times = hasStates ? new Column(Float64Array) : null;
		this.signed = isDiff;
		this.slots = new Int32Array(1024).fill(NOBODY);
		this.#append(NOBODY, 0);
	}

	/** The child of `parent` for `frame`, which is added if it is new. */
	child(parent, frame) {
		let slot = this.#slot(parent, frame);
		if (this.slots[slot] !== NOBODY)
			return this.slots[slot];
		const node = this.#append(parent, frame);
		this.slots[slot] = node;
		if (node * 2 > this.slots.length)
			this.#grow();
		return node;
	}

	add(node, value, baseValue = 0) {
		this.self.array[node] += value;
		if (this.baseSelf)
			this.baseSelf.array[node] += baseValue;
		this.magnitude.array[node] += Math.abs(value) + Math.abs(baseValue);
		this.signed ||= value < 0;
	}

	addTime(node, state, value) {
		this.times.array[node * STATES.length + state] += Math.abs(value);
	}

	/** @param {Frames} frames for names, which order children of equal weight, whatever the order in the file */
	finish(frames) {
		return new Ordering(this, frames).tree();
	}

	#append(parent, frame) {
		this.parent.push(parent);
		this.frame.push(frame);
		this.self.push(0);
		this.baseSelf?.push(0);
		this.magnitude.push(0);
		for (let state = 0; this.times && state < STATES.length; state++)
			this.times.push(0);
		return this.parent.length - 1;
	}

	#slot(parent, frame) {
		const mask = this.slots.length - 1;
		const hash = Math.imul(parent + 1, 0x9e3779b1) ^ Math.imul(frame + 1, 0x85ebca6b);
		let slot = (hash ^ (hash >>> 15)) & mask;
		for (;; slot = (slot + 1) & mask) {
			const node = this.slots[slot];
			if (node === NOBODY || (this.parent.array[node] === parent &&
			                        this.frame.array[node] === frame))
				return slot;
		}
	}

	#grow() {
		this.slots = new Int32Array(this.slots.length * 2).fill(NOBODY);
		for (let node = 1; node < this.parent.length; node++)
			this.slots[this.#slot(this.parent.array[node], this.frame.array[node])] = node;
	}
}

/* Adds the value of each node to its parent. Parents precede their children. */
function totals(self, parent) {
	const total = Float64Array.from(self);
	for (let node = total.length - 1; node > 0; node--)
		total[parent[node]] += total[node];
	return total;
}

/* Puts the nodes of a builder in pre-order. */
class Ordering {
	constructor(builder, frames) {
		this.builder = builder;
		this.names = frames.name;
		this.parent = builder.parent.view();
		this.frame = builder.frame.view();
		this.count = this.parent.length;
		this.total = totals(builder.self.view(), this.parent);
		this.weight = builder.signed ? totals(builder.magnitude.view(), this.parent) : this.total;
		this.baseTotal = builder.baseSelf && totals(builder.baseSelf.view(), this.parent);
	}

	/* Children of node i: list[ends[i]] to list[ends[i + 1]], the heaviest last, since they go onto a stack. */
	#children() {
		const ends = new Uint32Array(this.count + 2), list = new Uint32Array(this.count - 1);
		for (let node = 1; node < this.count; node++)
			ends[this.parent[node] + 2]++;
		for (let i = 2; i < ends.length; i++)
			ends[i] += ends[i - 1];
		for (let node = 1; node < this.count; node++)
			list[ends[this.parent[node] + 1]++] = node;
		for (let node = 0; node < this.count; node++)
			if (ends[node + 1] - ends[node] > 1)
				list.subarray(ends[node], ends[node + 1]).sort((a, b) => this.#compare(a, b));
		return { ends, list };
	}

	#compare(a, b) {
		if (this.weight[a] !== this.weight[b])
			return this.weight[a] - this.weight[b];
		const left = this.names[this.frame[a]], right = this.names[this.frame[b]];
		return left < right ? 1 : left > right ? -1 : 0;
	}

	#preOrder() {
		const { ends, list } = this.#children();
		const order = new Uint32Array(this.count), stack = new Uint32Array(this.count);
		let depth = 1, at = 0;
		stack[0] = 0;
		while (depth) {
			const node = stack[--depth];
			order[at++] = node;
			for (let i = ends[node]; i < ends[node + 1]; i++)
				stack[depth++] = list[i];
		}
		return order;
	}

	tree() {
		const order = this.#preOrder(), place = new Int32Array(this.count);
		order.forEach((node, i) => { place[node] = i; });
		const moved = (column) => column && column.constructor.from(order, (node) => column[node]);
		const tree = {
			count: this.count,
			parent: Int32Array.from(order, (node) => node ? place[this.parent[node]] : NOBODY),
			frame: moved(this.frame),
			depth: new Uint32Array(this.count),
			end: new Uint32Array(this.count),
			self: moved(this.builder.self.view()),
			total: moved(this.total),
			maxDepth: 0,
		};
		tree.weight = this.weight === this.total ? tree.total : moved(this.weight);
		if (this.builder.times)
			tree.state = moved(nodeStates(this.builder.times.view(), this.parent));
		if (this.baseTotal) {
			tree.baseSelf = moved(this.builder.baseSelf.view());
			tree.baseTotal = moved(this.baseTotal);
		}
		measure(tree);
		return tree;
	}
}

/* Fills depths from the root down, and ends from the leaves up. */
function measure(tree) {
	const { parent, depth, end } = tree;
	for (let node = 1; node < tree.count; node++) {
		depth[node] = depth[parent[node]] + 1;
		tree.maxDepth = Math.max(tree.maxDepth, depth[node]);
	}
	for (let node = tree.count - 1; node >= 0; node--) {
		end[node] = Math.max(end[node], node + 1);
		if (node)
			end[parent[node]] = Math.max(end[parent[node]], end[node]);
	}
}

/** Calls each(child) for the children of a node, the heaviest first. */
export function forChildren(tree, node, each) {
	for (let child = node + 1; child < tree.end[node]; child = tree.end[child])
		each(child);
}
