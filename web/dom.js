// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * Makes elements. All text enters the page here, as text nodes. The page builds markup in no other way, so the
 * name of a process cannot become markup.
 */

const SVG = 'http://www.w3.org/2000/svg';

/** Control characters, characters that change the direction of text, and invisible ones. */
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu;

/** @returns {string} the text with invisible characters written out, such as \u{202e} */
export function visible(text) {
	return String(text).replace(HIDDEN, (character) => `\\u{${character.codePointAt(0).toString(16)}}`);
}

function append(parent, children) {
	for (const child of children.flat(Infinity)) {
		if (child === null || child === undefined || child === false)
			continue;
		parent.append(child instanceof Node ? child : document.createTextNode(String(child)));
	}
}

/**
 * An HTML element. `on` holds listeners, `dataset` data attributes; `class`, `role`, `for` and names with a dash
 * are attributes; everything else is set as a property. null and undefined are left out.
 */
export function element(tag, properties = {}, ...children) {
	const made = document.createElement(tag);
	for (const [name, value] of Object.entries(properties)) {
		if (value === null || value === undefined)
			continue;
		if (name === 'on') {
			for (const [event, listener] of Object.entries(value))
				made.addEventListener(event, listener);
		} else if (name === 'dataset') {
			Object.assign(made.dataset, value);
		} else if (name === 'class' || name === 'role' || name === 'for' || name.includes('-')) {
			made.setAttribute(name, value);
		} else {
			made[name] = value;
		}
	}
	append(made, children);
	return made;
}

/** An SVG element; all of its properties are attributes. */
export function svg(tag, attributes = {}, ...children) {
	const made = document.createElementNS(SVG, tag);
	for (const [name, value] of Object.entries(attributes)) {
		if (value !== null && value !== undefined)
			made.setAttribute(name, value);
	}
	append(made, children);
	return made;
}
