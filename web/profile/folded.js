// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/** Folded stacks: a line `outermost;...;leaf value` for each path, as flame graph tools read them. */
import { KERNEL } from './kinds.js';

/* Replaces characters that would end a frame or a line. */
function word(name) {
	return name.replace(/;/g, ':').replace(/[\u0000-\u001f\u007f]/g, ' ');
}

/**
 * @param {Model} model lines of a diff have the base's value before the new one
 * @returns {string} sorted lines; names of kernel frames end in _[k]
 */
export function toFolded(model) {
	const { tree, frames } = model;
	const words = frames.name.map((name, frame) =>
		word(name) + (frames.kind[frame] === KERNEL ? '_[k]' : ''));
	const paths = new Array(tree.count), lines = [];
	for (let node = 0; node < tree.count; node++) {
		const parent = tree.parent[node], name = words[tree.frame[node]];
		paths[node] = parent > 0 ? `${paths[parent]};${name}` : name;
		const values = model.isDiff ? [tree.baseSelf[node], tree.self[node]] : [tree.self[node]];
		if (values.some((value) => value))
			lines.push(`${node ? paths[node] : '[no stack]'} ${values.map(Math.round).join(' ')}`);
	}
	return lines.sort().map((line) => `${line}\n`).join('');
}
