// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/** Simple syntax highlighting for many languages: comments, strings, numbers, keywords. */
import { element, visible } from '../dom.js';

const KEYWORDS = new Set(`
alignas and as asm async auto await bool break case catch chan char class const continue def
default defer del delete do double elif else end enum except export extern False false finally
float fn for from func function go goto if impl import in inline int interface is lambda let
local long loop map match mod module mut namespace new nil None noexcept nonlocal not null
nullptr operator or package pass private protected pub public raise range register restrict
return Self self short signed sizeof static struct super switch template then this throw trait
True true try type typedef typename union unsafe unsigned use using var virtual void volatile
where while with yield
`.trim().split(/\s+/));

const HASH_COMMENTS = /\.(py|pyx|rb|sh|pl|r|jl|yaml|toml)$/i;
const COMMENT = { slashes: /\/\/.*|\/\*.*?(?:\*\/|$)/, hashes: /#.*/ };
const STRING = {
	slashes: /"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)+'|`[^`]*`?/,
	hashes: /"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?/,
};
const NUMBER = /\b\d[\w.]*/, WORD = /[A-Za-z_]\w*/;

/* The groups of the pattern are comment, string, number, word. */
function patternOf(style) {
	const parts = [COMMENT[style], STRING[style], NUMBER, WORD];
	return new RegExp(parts.map(({ source }) => `(${source})`).join('|'), 'g');
}

const CLASSES = ['comment', 'string', 'literal'];
const MAX_LINE = 2000; /* characters of a line that are highlighted */

/* Splits a line that begins inside a comment: [comment, rest]. */
function splitComment(text) {
	const end = text.indexOf('*/');
	return end < 0 ? [text, ''] : [text.slice(0, end + 2), text.slice(end + 2)];
}

function spans(text, pattern, nodes) {
	let at = 0;
	for (const match of text.slice(0, MAX_LINE).matchAll(pattern)) {
		const group = match.slice(1).findIndex((part) => part !== undefined);
		const name = group < 3 ? CLASSES[group] : KEYWORDS.has(match[0]) ? 'keyword' : null;
		if (!name)
			continue;
		nodes.push(visibleCode(text.slice(at, match.index)),
			element('span', { class: `code-${name}` }, visibleCode(match[0])));
		at = match.index + match[0].length;
	}
	nodes.push(visibleCode(text.slice(at)));
}

/* Like visible(), except that tabs stay tabs. */
function visibleCode(text) {
	return text.split('\t').map(visible).join('\t');
}

/**
 * @param {string} file the extension decides the comment style
 * @param {string[]} lines
 * @returns {(string | Node)[][]} the content of each line
 */
export function highlight(file, lines) {
	const hashes = HASH_COMMENTS.test(file), pattern = patternOf(hashes ? 'hashes' : 'slashes');
	let inComment = false;
	return lines.map((line) => {
		const nodes = [];
		let text = line;
		if (inComment) {
			const [comment, rest] = splitComment(text);
			nodes.push(element('span', { class: 'code-comment' }, visibleCode(comment)));
			inComment = !comment.endsWith('*/');
			text = rest;
		}
		spans(text, pattern, nodes);
		const opened = text.lastIndexOf('/*');
		inComment ||= !hashes && opened >= 0 && text.indexOf('*/', opened) < 0 &&
			!text.slice(0, opened).includes('//');
		return nodes;
	});
}
