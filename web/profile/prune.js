// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * Leaves out the frames that a profile asks to drop: those whose functions match its dropFrames, with everything
 * that they call. As in pprof, matching frames outside the first frame that does not match are kept.
 */

/* Go's regular expressions are mostly valid in JavaScript; one that is not drops nothing. */
function expression(text) {
	try {
		return text ? new RegExp(`^(?:${text})$`) : null;
	} catch {
		return null;
	}
}

/* A name without its arguments. Parentheses that belong to the name itself are kept. */
function withoutArguments(name) {
	const text = name.replace(/^\./, '');
	const kept = text.replace(/\(anonymous namespace\)|operator\(\)/g, (part) => '_'.repeat(part.length));
	const at = kept.indexOf('(');
	return at < 0 ? text : text.slice(0, at);
}

/* Marks the locations to drop: those whose outermost function matches. */
function droppedLocations(profile, drop, keep) {
	const { locations, lines, functions } = profile;
	const dropped = functions.map(({ name }) => {
		const text = withoutArguments(name);
		return Boolean(name) && drop.test(text) && !keep?.test(text);
	});
	const marks = new Uint8Array(locations.count);
	for (let i = 1; i < locations.count; i++) {
		const last = locations.lineEnds[i + 1] - 1;
		if (last >= locations.lineEnds[i] && dropped[lines.function[last]])
			marks[i] = 1;
	}
	return marks;
}

/* Index where the remaining stack begins, at its leaf end: after the outermost dropped frame. */
function startOf(list, first, end, marks) {
	let inProgram = false;
	for (let i = end - 1; i >= first; i--) {
		if (!marks[list[i]])
			inProgram = true;
		else if (inProgram)
			return i + 1;
	}
	return first;
}

/**
 * The stacks of a profile without the frames that it asks to drop.
 * @returns {{list: Uint32Array, starts?: Uint32Array, ends: Uint32Array}} starts only if
 *          they differ from ends; the stack of sample i is then list[starts[i]] to list[ends[i + 1]]
 */
export function pruned(profile) {
	const { stacks: list, stackEnds: ends } = profile.samples;
	const drop = expression(profile.dropFrames), keep = expression(profile.keepFrames);
	if (!drop)
		return { list, ends };
	const marks = droppedLocations(profile, drop, keep);
	const starts = Uint32Array.from({ length: profile.sampleCount },
		(_, sample) => startOf(list, ends[sample], ends[sample + 1], marks));
	return { list, starts, ends };
}
