// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/** The values of a profile for the source lines of one frame. */
import { Selection, labelsOf } from './aggregate.js';
import { Frames, locationFrames } from './frames.js';

/* Marks the lines of a profile that belong to a frame of this name. */
function linesNamed(profile, name, by) {
	const { locations, lines, functions } = profile;
	const marks = new Uint8Array(lines.function.length);
	const frames = new Frames();
	const { ends, list } = locationFrames(profile, frames, by, { kernel: true, native: true });
	for (let i = 1; i < locations.count; i++) {
		const end = locations.lineEnds[i + 1];
		for (let line = locations.lineEnds[i]; line < end; line++) {
			/* Frames begin with the outermost, lines with the innermost. */
			const frame = list[by === 'binary' ? ends[i] : ends[i] + (end - 1 - line)];
			marks[line] = Number(frames.name[frame] === name &&
				functions[lines.function[line]].filename && lines.number[line] > 0);
		}
	}
	return marks;
}

class Lines {
	constructor(profile) {
		this.profile = profile;
		this.files = new Map();
	}

	/* The entry of a line's file. */
	fileOf(line) {
		const { lines, functions } = this.profile, name = functions[lines.function[line]].filename;
		return this.files.get(name) ??
			this.files.set(name, { lines: new Map(), containers: new Map() }).get(name);
	}

	/* The numbers of a line, which are added if it is new. */
	of(line) {
		const number = this.profile.lines.number[line], { lines } = this.fileOf(line);
		return lines.get(number) ?? lines.set(number, { self: 0, total: 0, seen: -1 }).get(number);
	}

	/* Files of the same name differ between containers. */
	addContainer(line, sample, value) {
		const { containers } = this.fileOf(line), name = labelsOf(this.profile, sample).container ?? '';
		containers.set(name, (containers.get(name) ?? 0) + Math.abs(value));
	}
}

/**
 * @param {{profile, options}} source of a model
 * @param {string} name of a frame
 * @returns {Map<string, {lines: Map<number, {self, total}>, containers: Map<string, number>}>} for
 *          each file the values by line and by container; a line that recurs in a sample counts once in a total
 */
export function lineTotals({ profile, options }, name) {
	const by = ['process', 'thread'].includes(options.by) ? 'function' : options.by;
	const marks = linesNamed(profile, name, by), { lineEnds } = profile.locations;
	const found = new Lines(profile), selection = new Selection(profile, options);
	selection.forEach((sample, value, first, end) => {
		for (let i = first; i < end; i++) {
			const location = selection.stacks.list[i];
			for (let line = lineEnds[location]; line < lineEnds[location + 1]; line++) {
				if (!marks[line])
					continue;
				const numbers = found.of(line);
				if (i === first && line === lineEnds[location])
					numbers.self += value;
				if (numbers.seen !== sample) {
					numbers.total += value;
					found.addContainer(line, sample, value);
				}
				numbers.seen = sample;
			}
		}
	});
	return found.files;
}
