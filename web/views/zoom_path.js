// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * Writes a node of a tree as text that remains valid for another profile: a short hash of each name on the path
 * to it. Children of a node have different names, so a path leads to at most one node.
 */
import { forChildren } from '../profile/tree.js';
import { pathOf } from './layout.js';

function hash(name) {
	let value = 0x811c9dc5;
	for (let i = 0; i < name.length; i++)
		value = Math.imul(value ^ name.charCodeAt(i), 0x01000193);
	return ((value ^ (value >>> 16)) & 0xfffff).toString(36);
}

/** The path of a node; '' for the root. */
export function writePath(model, tree, node) {
	return pathOf(tree, node).slice(1).map((at) => hash(model.frames.name[tree.frame[at]])).join('.');
}

/** The node that a text leads to, or the last node on the path that still exists. */
export function readPath(model, tree, text) {
	let node = 0;
	for (const part of text ? text.split('.') : []) {
		let found = -1;
		forChildren(tree, node, (child) => {
			if (found < 0 && hash(model.frames.name[tree.frame[child]]) === part)
				found = child;
		});
		if (found < 0)
			break;
		node = found;
	}
	return node;
}
