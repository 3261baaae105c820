// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * Reads the messages of profile.proto into columns. Field numbers are those of the published format. A file may
 * have its tables in any order and refer to entries that follow later, so identifiers and string numbers are kept
 * as they are here; profile.js resolves them at the end.
 */
import { Column } from './columns.js';
import { Message } from './wire.js';

/** Calls the reader that `readers` has for each field, by number, and skips fields without one. */
function read(message, readers) {
	while (message.next()) {
		const reader = readers[message.field];
		if (reader)
			reader(message);
		else
			message.skip();
	}
}

function readValueType(message) {
	const type = { type: 0, unit: 0 };
	read(message, {
		1: (m) => { type.type = m.int(); },
		2: (m) => { type.unit = m.int(); },
	});
	return type;
}

function readMapping(message) {
	const mapping = { id: 0, filename: 0, buildId: 0 };
	read(message, {
		1: (m) => { mapping.id = m.id(); },
		5: (m) => { mapping.filename = m.int(); },
		6: (m) => { mapping.buildId = m.int(); },
	});
	return mapping;
}

function readFunction(message) {
	const fn = { id: 0, name: 0, filename: 0, startLine: 0 };
	read(message, {
		1: (m) => { fn.id = m.id(); },
		2: (m) => { fn.name = m.int(); },
		4: (m) => { fn.filename = m.int(); },
		5: (m) => { fn.startLine = m.int(); },
	});
	return fn;
}

function readLine(message) {
	const line = { function: 0, number: 0 };
	read(message, {
		1: (m) => { line.function = m.id(); },
		2: (m) => { line.number = m.int(); },
	});
	return line;
}

function readLocation(message) {
	const location = { id: 0, mapping: 0, lines: [] };
	read(message, {
		1: (m) => { location.id = m.id(); },
		2: (m) => { location.mapping = m.id(); },
		4: (m) => { location.lines.push(readLine(m.message())); },
	});
	return location;
}

function readLabel(message) {
	const label = { key: 0, text: 0, number: 0 };
	read(message, {
		1: (m) => { label.key = m.int(); },
		2: (m) => { label.text = m.int(); },
		3: (m) => { label.number = m.int(); },
	});
	return label;
}

/* Most of a file is samples, so their readers are created once and not for each sample. */
class SampleReader {
	constructor(tables) {
		this.tables = tables;
		this.valueCount = 0;
		const pushLocation = (m) => tables.stacks.push(m.id());
		const pushValue = (m) => {
			tables.values.push(m.int());
			this.valueCount++;
		};
		this.readers = {
			1: (m) => m.repeated(pushLocation),
			2: (m) => m.repeated(pushValue),
			3: (m) => tables.labels.push(readLabel(m.message())),
		};
	}

	read(message) {
		const { tables } = this;
		this.valueCount = 0;
		read(message, this.readers);
		tables.stackEnds.push(tables.stacks.length);
		tables.valueCounts.push(this.valueCount);
		tables.labelEnds.push(tables.labels.length);
	}
}

/**
 * The tables of a file, unresolved.
 * @param {Uint8Array} bytes unpacked
 */
export function readTables(bytes) {
	const tables = {
		types: [], mappings: [], locations: [], functions: [], strings: [], labels: [],
		stacks: new Column(Float64Array), stackEnds: new Column(Uint32Array), labelEnds: new Column(Uint32Array),
		values: new Column(Float64Array), valueCounts: new Column(Uint32Array),
		comments: [], dropFrames: 0, keepFrames: 0, timeNanos: 0, durationNanos: 0, period: 0,
		defaultType: 0,
	};
	const samples = new SampleReader(tables);
	read(new Message(bytes), {
		1: (m) => { tables.types.push(readValueType(m.message())); },
		2: (m) => { samples.read(m.message()); },
		3: (m) => { tables.mappings.push(readMapping(m.message())); },
		4: (m) => { tables.locations.push(readLocation(m.message())); },
		5: (m) => { tables.functions.push(readFunction(m.message())); },
		6: (m) => { tables.strings.push(m.text()); },
		7: (m) => { tables.dropFrames = m.int(); },
		8: (m) => { tables.keepFrames = m.int(); },
		9: (m) => { tables.timeNanos = m.int(); },
		10: (m) => { tables.durationNanos = m.int(); },
		12: (m) => { tables.period = m.int(); },
		13: (m) => { m.repeated((number) => tables.comments.push(number.int())); },
		14: (m) => { tables.defaultType = m.int(); },
	});
	return tables;
}
