// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/** Finds frames by a search text. */

/* A text without capitals ignores case. A text that is not a regular expression is matched literally. */
function expression(text) {
	const flags = /\p{Lu}/u.test(text) ? 'u' : 'iu';
	try {
		return new RegExp(text, flags);
	} catch {
		return new RegExp(text.replace(/[\\^$.*+?()[\]{}|/-]/g, (c) => (c === '-' ? '\\x2d' : `\\${c}`)),
			flags);
	}
}

/** Marks by frame: 1 if the name or the file matches; null for an empty text. */
export function matchFrames(frames, text) {
	if (!text)
		return null;
	const pattern = expression(text);
	return Uint8Array.from(frames.name, (name, frame) =>
		Number(frame > 0 && (pattern.test(name) || pattern.test(frames.file[frame]))));
}

/** The total of the matching frames of a tree. A match inside another match is not counted again. */
export function matchedTotal(tree, marks) {
	let total = 0;
	for (let node = 1; node < tree.count;) {
		if (marks[tree.frame[node]]) {
			total += tree.total[node];
			node = tree.end[node];
		} else {
			node++;
		}
	}
	return total;
}
