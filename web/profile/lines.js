// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/** What a profile says about the lines of one frame's source. */
import { Selection } from './aggregate.js';
import { Frames, locationFrames } from './frames.js';

/* The lines of a profile that belong to a frame of this name, as marks. */
function linesNamed(profile, name, by) {
	const { locations, lines, functions } = profile;
	const marks = new Uint8Array(lines.function.length);
	const frames = new Frames();
	const { ends, list } = locationFrames(profile, frames, by, true);
	for (let i = 1; i < locations.count; i++) {
		const end = locations.lineEnds[i + 1];
		for (let line = locations.lineEnds[i]; line < end; line++) {
			/* Frames are the outermost first, lines the innermost. */
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

	/* The numbers of a line; new ones unless there are. */
	of(line) {
		const { lines, functions } = this.profile;
		const file = functions[lines.function[line]].filename, number = lines.number[line];
		const numbers = this.files.get(file) ?? this.files.set(file, new Map()).get(file);
		return numbers.get(number) ??
			numbers.set(number, { self: 0, total: 0, seen: -1 }).get(number);
	}
}

/**
 * @param {{profile, options}} source of a model
 * @param {string} name of a frame
 * @returns {Map<string, Map<number, {self, total}>>} by file, by line; a line that recurs in a sample
 *          counts once
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
				if (numbers.seen !== sample)
					numbers.total += value;
				numbers.seen = sample;
			}
		}
	});
	return found.files;
}
