// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * Any pprof file (of profd, Go or gperftools) as columns.
 *
 * A Profile has
 *   types        [{type, unit}], sampleCount, and defaultType, the index of the one that
 *                is shown first
 *   mappings     [{filename, buildId}]; 0 is "none"
 *   functions    [{name, filename, startLine}]; 0 is "none"
 *   locations    mapping, and lineEnds[i] of lines; 0 is "none"
 *   lines        function and line number; those of a location begin with the innermost inlined one
 *   samples      stackEnds[i] of stacks (locations, the leaf first), values[type][i],
 *                labelEnds[i] of labels ([{key, text, number}], text undefined for numbers)
 *   comments, timeNanos, durationNanos, period, dropFrames, keepFrames
 * Ends are exclusive and have one more entry than there are rows: row i is from ends[i] to ends[i+1].
 */
import { gunzip } from './gunzip.js';
import { readTables } from './pprof.js';

/* Files below this size are read in this thread: starting a worker would take longer. */
const WORKER_BYTES = 128 * 1024;

function fail(what) {
	throw new Error(`not a profile: ${what}`);
}

class Resolver {
	constructor(strings) {
		this.strings = strings;
	}

	text(number) {
		const text = this.strings[number];
		if (text === undefined)
			fail(`string ${number} of ${this.strings.length}`);
		return text;
	}

	/* Maps ids to rows, which are numbered from 1. In most files the two are the same. */
	static ids(rows, what) {
		const { length } = rows;
		if (rows.every((row, i) => row.id === i + 1))
			return (id) => (id > 0 && id <= length ? id : fail(`no ${what} has the id ${id}`));
		const index = new Map();
		for (const row of rows) {
			if (!row.id)
				fail(`a ${what} without an id`);
			if (index.has(row.id))
				fail(`two ${what}s have the id ${row.id}`);
			index.set(row.id, index.size + 1);
		}
		return (id) => index.get(id) ?? fail(`no ${what} has the id ${id}`);
	}
}

function endsOf(column) {
	const ends = new Uint32Array(column.length + 1);
	ends.set(column.view(), 1);
	return ends;
}

function locationColumns(tables, functionOf, mappingOf) {
	const count = tables.locations.length;
	const lineCount = tables.locations.reduce((sum, location) => sum + location.lines.length, 0);
	const mapping = new Uint32Array(count + 1), lineEnds = new Uint32Array(count + 2);
	const lines = { function: new Uint32Array(lineCount), number: new Float64Array(lineCount) };
	let at = 0;
	tables.locations.forEach((location, i) => {
		mapping[i + 1] = location.mapping ? mappingOf(location.mapping) : 0;
		for (const line of location.lines) {
			lines.function[at] = line.function ? functionOf(line.function) : 0;
			lines.number[at++] = line.number;
		}
		lineEnds[i + 2] = at;
	});
	return { locations: { count: count + 1, mapping, lineEnds }, lines };
}

/* A column for each type. Every sample must have as many values as there are types. */
function valueColumns(tables) {
	const typeCount = tables.types.length, sampleCount = tables.valueCounts.length;
	const counts = tables.valueCounts.view(), all = tables.values.view();
	for (let i = 0; i < sampleCount; i++)
		if (counts[i] !== typeCount)
			fail(`a sample with ${counts[i]} values of ${typeCount}`);
	return tables.types.map((_, type) =>
		new Float64Array(sampleCount).map((__, i) => all[i * typeCount + type]));
}

function sampleColumns(tables, strings) {
	const locationOf = Resolver.ids(tables.locations, 'location');
	return {
		count: tables.stackEnds.length,
		stacks: Uint32Array.from(tables.stacks.view(), locationOf),
		stackEnds: endsOf(tables.stackEnds),
		values: valueColumns(tables),
		labels: tables.labels.map(({ key, text, number }) => ({
			key: strings.text(key),
			text: text ? strings.text(text) : undefined,
			number,
		})),
		labelEnds: endsOf(tables.labelEnds),
	};
}

/* If the file names no default, it is the last type, as in pprof. */
function defaultTypeOf(types, name) {
	const index = types.findIndex(({ type }) => type === name);
	return index < 0 ? types.length - 1 : index;
}

function resolve(tables) {
	const strings = new Resolver(tables.strings);
	if (!tables.types.length)
		fail('it has no value type');
	const types = tables.types.map(({ type, unit }) => (
		{ type: strings.text(type), unit: strings.text(unit) }));
	const functionOf = Resolver.ids(tables.functions, 'function');
	const mappingOf = Resolver.ids(tables.mappings, 'mapping');
	return {
		types,
		sampleCount: tables.stackEnds.length,
		defaultType: defaultTypeOf(types, strings.text(tables.defaultType)),
		mappings: [{ filename: '', buildId: '' }, ...tables.mappings.map((mapping) => ({
			filename: strings.text(mapping.filename),
			buildId: strings.text(mapping.buildId),
		}))],
		functions: [{ name: '', filename: '', startLine: 0 }, ...tables.functions.map((fn) => ({
			name: strings.text(fn.name),
			filename: strings.text(fn.filename),
			startLine: fn.startLine,
		}))],
		...locationColumns(tables, functionOf, mappingOf),
		samples: sampleColumns(tables, strings),
		comments: tables.comments.map((comment) => strings.text(comment)),
		timeNanos: tables.timeNanos,
		durationNanos: tables.durationNanos,
		period: tables.period,
		dropFrames: strings.text(tables.dropFrames),
		keepFrames: strings.text(tables.keepFrames),
	};
}

/** decodeProfile() in the calling thread. */
export async function decodeHere(packed) {
	const bytes = await gunzip(packed);
	if (!bytes.length)
		fail('it is empty');
	return resolve(readTables(bytes));
}

function decodeInWorker(bytes) {
	const worker = new Worker(new URL('worker.js', import.meta.url), { type: 'module' });
	return new Promise((done, failed) => {
		worker.onmessage = ({ data }) => (data.error ? failed(new Error(data.error)) : done(data.profile));
		worker.onerror = () => failed(new Error('the profile could not be read in the background'));
		worker.postMessage(bytes.slice().buffer);
	}).finally(() => worker.terminate());
}

/**
 * Reads a pprof file, gzipped or not; a large one in a worker.
 * @param {ArrayBuffer | Uint8Array} data
 * @returns {Promise<Profile>} rejected with an Error of one line if it is not a profile
 */
export function decodeProfile(data) {
	const bytes = data instanceof Uint8Array ? data : new Uint8Array(data);
	return bytes.length < WORKER_BYTES ? decodeHere(bytes) : decodeInWorker(bytes);
}
