// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/** Describes a frame or a node in words, for tooltips, announcements and details. */
import { visible } from '../dom.js';
import { formatDelta, formatShare, formatValue } from '../profile/format.js';

/** 'file:line', as far as it is known. */
export function placeOf(frames, frame) {
	const file = frames.file[frame], line = frames.line[frame];
	return visible(line ? `${file}:${line}` : file);
}

/** '1.2 s (3.4 %)'; in a diff also the change. */
export function amount(model, value, base) {
	const { unit } = model;
	const now = `${formatValue(value, unit)} (${formatShare(value, model.total)})`;
	if (!model.isDiff)
		return now;
	return `${now}, base ${formatValue(base, unit)} (${formatShare(base, model.baseTotal)}), ` +
		`change ${formatDelta(value - base, unit)}`;
}

/** The facts about a node, line by line: [[label, text]]. */
export function nodeFacts(model, tree, node) {
	const { frames } = model, frame = tree.frame[node];
	const facts = [
		['total', amount(model, tree.total[node], tree.baseTotal?.[node])],
		['self', amount(model, tree.self[node], tree.baseSelf?.[node])],
		['source', placeOf(frames, frame)],
		['binary', visible(frames.binary[frame])],
	];
	return facts.filter(([, text]) => text);
}

/** A node in one sentence for a screen reader. */
export function nodeSentence(model, tree, node) {
	const name = visible(model.frames.name[tree.frame[node]]);
	const calls = childCount(tree, node);
	return `${name}: total ${amount(model, tree.total[node], tree.baseTotal?.[node])}, ` +
		`self ${formatValue(tree.self[node], model.unit)}, depth ${tree.depth[node]}, ` +
		`${calls} ${calls === 1 ? 'callee' : 'callees'}`;
}

function childCount(tree, node) {
	let count = 0;
	for (let child = node + 1; child < tree.end[node]; child = tree.end[child])
		count++;
	return count;
}
