// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/** Chooses the part of the call graph to show: the frames around one, along the heaviest calls. */

const MAX_NODES = 28;
const MAX_DISTANCE = 3;
const LEAST_SHARE = 0.001; /* of the focus frame's total */

function weightOf({ value, base }) {
	return Math.max(Math.abs(value), Math.abs(base));
}

/* The callees and the callers of each frame. */
function neighbours(edges) {
	const callees = new Map(), callers = new Map();
	const add = (map, from, to, edge) => (map.get(from) ?? map.set(from, []).get(from)).push({ to, edge });
	for (const [caller, made] of edges) {
		for (const [callee, edge] of made) {
			add(callees, caller, callee, edge);
			add(callers, callee, caller, edge);
		}
	}
	return { callees, callers };
}

/*
 * Walks away from the focus in one direction. Each step takes the heaviest call that leads to a frame not yet
 * taken.
 */
function spread(map, focus, layers, direction, least, limit) {
	const queue = [{ to: focus, distance: 0, weight: Infinity }];
	let taken = 0;
	while (queue.length && taken < limit) {
		const best = queue.reduce((at, one, i) => (one.weight > queue[at].weight ? i : at), 0);
		const [{ to, distance }] = queue.splice(best, 1);
		if (distance && layers.has(to))
			continue;
		if (distance) {
			layers.set(to, direction * distance);
			taken++;
		}
		if (distance === MAX_DISTANCE)
			continue;
		for (const next of map.get(to) ?? [])
			if (!layers.has(next.to) && weightOf(next.edge) >= least)
				queue.push({ to: next.to, distance: distance + 1, weight: weightOf(next.edge) });
	}
}

/**
 * @param {Map} edges from callEdges()
 * @param {number} focus frame
 * @param {number} total of the focus
 * @returns {{layers: Map<number, number>, edges: {from, to, value, base}[]}} layers: the layer of each frame: 0 for
 *          the focus, negative for its callers, positive for its callees
 */
export function chooseAround(edges, focus, total) {
	const layers = new Map([[focus, 0]]);
	const { callees, callers } = neighbours(edges);
	const least = Math.abs(total) * LEAST_SHARE;
	spread(callees, focus, layers, 1, least, MAX_NODES / 2);
	spread(callers, focus, layers, -1, least, MAX_NODES / 2);
	const chosen = [];
	for (const [from, made] of edges)
		if (layers.has(from))
			for (const [to, edge] of made)
				if (layers.has(to) && weightOf(edge) >= least)
					chosen.push({ from, to, ...edge });
	return { layers, edges: chosen };
}
