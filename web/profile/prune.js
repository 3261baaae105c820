// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * Frames that a profile itself asks to leave out: those whose functions its dropFrames matches, with
 * all that they call. As pprof does it, a stack keeps what is before its first frame of another kind.
 */

/* Go's expressions are nearly JavaScript's; one that is not leaves nothing out. */
function expression(text) {
	try {
		return text ? new RegExp(`^(?:${text})$`) : null;
	} catch {
		return null;
	}
}

/* A name without its arguments; some names have parentheses of their own. */
function withoutArguments(name) {
	const text = name.replace(/^\./, '');
	const kept = text.replace(/\(anonymous namespace\)|operator\(\)/g, (part) => '_'.repeat(part.length));
	const at = kept.indexOf('(');
	return at < 0 ? text : text.slice(0, at);
}

/* Marks locations: those dropped whole, where the outermost function of one is dropped. */
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

/* Where the stack begins that is left, from its leaf: behind the outermost dropped frame. */
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
 * The stacks of a profile without what it asks to leave out.
 * @returns {{list: Uint32Array, starts?: Uint32Array, ends: Uint32Array}} starts only where they
 *          differ from ends, the stack of sample i being list[starts[i]] to list[ends[i + 1]]
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
