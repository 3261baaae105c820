// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * Frames: the boxes of a flame graph and the rows of a table. As in pprof, a frame is identified by its name:
 * functions of the same name are one frame.
 */
import { INTERPRETED, KERNEL, OTHER, PROCESS, kindOf } from './kinds.js';

/** Number of the root frame, which contains everything. */
export const ROOT = 0;

/** Frames by number, in columns that grow. */
export class Frames {
	constructor() {
		this.numbers = new Map();
		this.name = [];
		this.file = [];
		this.line = [];
		this.binary = [];
		this.kind = [];
		this.add({ name: 'all', kind: OTHER }, '');
	}

	get count() {
		return this.name.length;
	}

	/** The number of the frame with this key, which is added if it is new. */
	add({ name, file = '', line = 0, binary = '', kind }, key = name) {
		let number = this.numbers.get(key);
		if (number !== undefined)
			return number;
		number = this.name.length;
		this.numbers.set(key, number);
		this.name.push(name);
		this.file.push(file);
		this.line.push(line);
		this.binary.push(binary);
		this.kind.push(kind);
		return number;
	}

	/** Adds a frame of another table to this one. Returns its number here. */
	addFrom(other, number) {
		if (number === ROOT)
			return ROOT;
		return this.add({
			name: other.name[number],
			file: other.file[number],
			line: other.line[number],
			binary: other.binary[number],
			kind: other.kind[number],
		});
	}
}

function baseName(path) {
	return path.slice(path.lastIndexOf('/') + 1);
}

/* Removes `.`, `..` and `//` as pprof does. */
function cleanPath(path) {
	if (!path)
		return '';
	if (!/(^|\/)\.{0,2}(\/|$)/.test(path.slice(1)) && !path.startsWith('./'))
		return path;
	const parts = [];
	for (const part of path.split('/')) {
		if (part === '..' && parts.length && parts.at(-1) !== '..')
			parts.pop();
		else if (part === '..' ? path[0] !== '/' : part && part !== '.')
			parts.push(part);
	}
	return (path[0] === '/' ? '/' : '') + parts.join('/') || '.';
}

/* A name that is not a file has its brackets already. */
function inBrackets(binary) {
	if (!binary)
		return '<unknown>';
	return binary[0] === '[' ? binary : `[${baseName(binary)}]`;
}

/* Describes a function and line in a binary as a frame, for each value of `by`. */
const DESCRIBE = {
	function(fn, number, binary) {
		return { name: fn.name || inBrackets(binary), file: fn.filename, line: fn.startLine };
	},
	line(fn, number, binary) {
		const name = fn.name || inBrackets(binary);
		const path = cleanPath(fn.filename);
		const place = number ? `${path}:${number}` : path;
		return {
			name: fn.filename ? `${name} ${place}` : name,
			file: fn.filename,
			line: number,
		};
	},
	file(fn, number, binary) {
		return { name: cleanPath(fn.filename) || inBrackets(binary), file: fn.filename };
	},
	binary(fn, number, binary) {
		return { name: binary || '<unknown>' };
	},
};

/**
 * The frames of every location of a profile that are shown, the outermost first.
 * @param {{kernel: boolean, native: boolean}} shown
 * @returns {{ends: Uint32Array, list: Uint32Array, isUser: Uint8Array, named: Uint32Array}} location i has list[ends[i]] to
 *          list[ends[i + 1]], isUser[i] unless it is the kernel's, and named[i] if it is no code but a name in brackets
 */
export function locationFrames(profile, frames, by, shown) {
	const describe = DESCRIBE[by] ?? DESCRIBE.function;
	const { locations, lines, functions, mappings } = profile;
	const ends = new Uint32Array(locations.count + 1), list = [], isUser = new Uint8Array(locations.count);
	const named = new Uint32Array(locations.count);
	const shows = (kind) => shown.native ? shown.kernel || kind !== KERNEL : INTERPRETED.includes(kind);
	const addLine = (line, binary, location) => {
		const fn = functions[line < 0 ? 0 : lines.function[line]];
		const frame = describe(fn, line < 0 ? 0 : lines.number[line], binary);
		frame.binary = binary;
		frame.kind = kindOf(binary, fn.name);
		isUser[location] ||= frame.kind !== KERNEL;
		if (shows(frame.kind))
			list.push(frames.add(frame));
		else if (frame.kind === OTHER)
			named[location] = frames.add(frame);
	};
	for (let i = 1; i < locations.count; i++) {
		const first = locations.lineEnds[i], end = locations.lineEnds[i + 1];
		const binary = mappings[locations.mapping[i]].filename;
		/* By binary a location is one frame, however many functions were inlined there. */
		if (first === end || by === 'binary')
			addLine(-1, binary, i);
		else
			for (let line = end - 1; line >= first; line--)
				addLine(line, binary, i);
		ends[i + 1] = list.length;
	}
	return { ends, list: Uint32Array.from(list), isUser, named };
}

/** The frame of the process or thread of a sample, from its labels as an object. */
export function taskFrame(frames, by, labels) {
	const comm = labels.comm ?? '[unknown]';
	const name = by === 'thread' ? `${comm}/${labels.thread ?? '[unknown]'} (${labels.tid ?? '?'})` :
		`${comm} (${labels.pid ?? '?'})`;
	return frames.add({ name, kind: PROCESS }, `task ${name}`);
}
