// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * A node of a tree as text that stays true when the profile is taken again: a short hash of each name on
 * the path to it. Children of one name do not exist, so a path that leads somewhere leads to one node.
 */
import { forChildren } from '../profile/tree.js';
import { pathOf } from './layout.js';

function hash(name) {
	let value = 0x811c9dc5;
	for (let i = 0; i < name.length; i++)
		value = Math.imul(value ^ name.charCodeAt(i), 0x01000193);
	return ((value ^ (value >>> 16)) & 0xfffff).toString(36);
}

/** '' for the root. */
export function writePath(model, tree, node) {
	return pathOf(tree, node).slice(1).map((at) => hash(model.frames.name[tree.frame[at]])).join('.');
}

/** The node that a text leads to, or the last one on its way that there still is. */
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
