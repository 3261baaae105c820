// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * Aggregates a profile as the options say. The numbers are those of `go tool pprof`: a frame's self is the sum of
 * the samples whose leaf it is, its total the sum of the samples that have it anywhere in the stack. A sample
 * counts once, however often the frame recurs in it.
 *
 * A Model has
 *   type, unit, total, empty, isDiff (then also baseTotal)
 *   frames     names and places (frames.js); self and total by frame (in a diff also baseSelf, baseTotal)
 *   rows       the numbers of the frames that have a row in a table
 *   tree       the call tree, from the outermost frame (tree.js)
 *   sources    [{profile, options}] the inputs: the profile itself, and then the base of a diff
 */
import { OTHER } from './kinds.js';
import { Frames, ROOT, locationFrames, taskFrame } from './frames.js';
import { pruned } from './prune.js';
import { stateOf } from './states.js';
import { TreeBuilder } from './tree.js';

const TASKS = ['process', 'thread'];
/* Filters that compare numbers, with their labels; all others compare text. */
const NUMBERS = { pid: 'pid', thread: 'tid' };

/** The labels of a sample as an object. */
export function labelsOf(profile, sample) {
	const { labels, labelEnds } = profile.samples, found = {};
	for (let i = labelEnds[sample]; i < labelEnds[sample + 1]; i++)
		found[labels[i].key] = labels[i].text ?? labels[i].number;
	return found;
}

/* As the daemon filters: comm matches a process or a thread, a container matches by a prefix. */
function matches(labels, filters) {
	return Object.entries(filters).every(([name, wanted]) => {
		if (wanted === undefined || wanted === '')
			return true;
		if (NUMBERS[name])
			return labels[NUMBERS[name]] === Number(wanted);
		if (name === 'comm')
			return labels.comm === wanted || labels.thread === wanted;
		if (name === 'container')
			return String(labels.container ?? '').startsWith(wanted);
		return labels[name] === wanted;
	});
}

/* Sums by frame. `seen` holds the last sample that a frame was counted for, numbered from 1. */
class Sums {
	constructor(count) {
		this.self = new Float64Array(count);
		this.total = new Float64Array(count);
		this.seen = new Uint32Array(count);
	}

	addTotal(frame, value, sample) {
		if (this.seen[frame] === sample + 1)
			return;
		this.seen[frame] = sample + 1;
		this.total[frame] += value;
	}
}

/** Selects samples by the options and walks them. Nothing else decides which samples count. */
export class Selection {
	constructor(profile, options) {
		this.profile = profile;
		this.options = options;
		this.stacks = pruned(profile);
		this.values = profile.samples.values[options.valueIndex ?? profile.defaultType];
		const filters = options.filters ?? {};
		this.filters = Object.values(filters).some((value) => value) ? filters : null;
	}

	/** Calls each(sample, value, first, end) with the range of its stack in this.stacks.list. */
	forEach(each) {
		const { ends } = this.stacks, starts = this.stacks.starts ?? ends;
		for (let sample = 0; sample < this.profile.sampleCount; sample++) {
			const value = this.values[sample];
			if (!value)
				continue;
			if (this.filters && !matches(labelsOf(this.profile, sample), this.filters))
				continue;
			each(sample, value, starts[sample], ends[sample + 1]);
		}
	}
}

/* Computes the tree, the sums and the total of one selection in one walk. */
class Adding {
	constructor(selection, frames) {
		const { profile, options } = selection;
		this.selection = selection;
		this.frames = frames;
		this.tasks = TASKS.includes(options.by) ? this.#taskFrames() : null;
		this.shown = { kernel: options.kernel ?? true, native: options.native ?? true };
		this.places = locationFrames(profile, frames, options.by, this.shown);
		this.nativeCode = this.shown.native ? ROOT : frames.add({ name: '[native code]', kind: OTHER });
		/* Consecutive frames of one file or binary become one frame; with `loops`, so does recursion. */
		this.folding = options.loops || options.by === 'file' || options.by === 'binary';
		this.hasStates = profile.samples.labels.some(({ key }) => key === 'state');
		this.builder = new TreeBuilder(false, this.hasStates);
		this.sums = new Sums(frames.count);
		this.total = 0;
	}

	#taskFrames() {
		const { profile, options } = this.selection;
		return Uint32Array.from({ length: profile.sampleCount },
			(_, sample) => taskFrame(this.frames, options.by, labelsOf(profile, sample)));
	}

	run() {
		this.selection.forEach((...sample) => this.#add(...sample));
		return this;
	}

	#add(sample, value, first, end) {
		const { ends, list } = this.places, stack = this.selection.stacks.list;
		const { builder, sums } = this;
		let node = 0, leaf = ROOT;
		if (this.tasks) {
			leaf = this.tasks[sample];
			node = builder.child(node, leaf);
			sums.addTotal(leaf, value, sample);
			sums.self[leaf] += value;
		}
		const task = node;
		for (let i = end - 1; i >= first; i--) {
			for (let at = ends[stack[i]]; at < ends[stack[i] + 1]; at++) {
				const frame = list[at];
				if (!this.folding || frame !== leaf)
					node = builder.child(node, frame);
				leaf = frame;
				sums.addTotal(frame, value, sample);
			}
		}
		if (node === task && first < end) {
			/* A stack of kernel frames only is hidden with them. */
			if (!this.shown.kernel && !this.#hasUser(first, end))
				return this.#takeBack(leaf, value);
			if (!this.shown.native) {
				leaf = this.places.named[stack[end - 1]] || this.nativeCode;
				node = builder.child(node, leaf);
				sums.addTotal(leaf, value, sample);
			}
		}
		if (node !== task)
			sums.self[leaf] += value;
		builder.add(node, value);
		if (this.hasStates)
			builder.addTime(node, stateOf(labelsOf(this.selection.profile, sample)), value);
		this.total += Math.abs(value);
	}

	#hasUser(first, end) {
		return this.selection.stacks.list.subarray(first, end).some((location) => this.places.isUser[location]);
	}

	#takeBack(task, value) {
		if (!this.tasks)
			return;
		this.sums.self[task] -= value;
		this.sums.total[task] -= value;
	}
}

function rowsOf(frames, total, taskCount) {
	const rows = [];
	const end = taskCount || frames.count;
	for (let frame = ROOT + 1; frame < end; frame++)
		if (total[frame])
			rows.push(frame);
	return Uint32Array.from(rows);
}

/**
 * @param {Profile} profile
 * @param {{valueIndex?: number, filters?: object, by?: string, loops?: boolean, kernel?: boolean, native?: boolean}}
 *        options loops: a frame that calls itself is one frame; kernel: false hides the kernel's frames; native: false
 *        shows interpreted code alone
 * @returns {Model}
 */
export function select(profile, options = {}) {
	const frames = new Frames();
	const adding = new Adding(new Selection(profile, options), frames).run();
	const { type, unit } = profile.types[options.valueIndex ?? profile.defaultType];
	const { self, total } = adding.sums;
	const taskCount = adding.tasks ? Math.max(ROOT, ...adding.tasks) + 1 : 0;
	self[ROOT] = adding.builder.self.array[0];
	total[ROOT] = adding.total;
	return {
		type,
		unit,
		by: options.by || 'function',
		total: adding.total,
		empty: !adding.total,
		isDiff: false,
		frames: Object.assign(frames, { self, total }),
		rows: rowsOf(frames, total, taskCount),
		tree: adding.builder.finish(frames),
		sources: [{ profile, options }],
	};
}

/* Adds a model to a merged tree. Returns the numbers that its frames have there. */
function merge(model, frames, builder, add) {
	const { tree } = model, nodes = new Uint32Array(tree.count);
	const numbers = Uint32Array.from(model.frames.name, (_, frame) => frames.addFrom(model.frames, frame));
	for (let node = 0; node < tree.count; node++) {
		if (node)
			nodes[node] = builder.child(nodes[tree.parent[node]], numbers[tree.frame[node]]);
		if (tree.self[node])
			add(nodes[node], tree.self[node]);
	}
	return numbers;
}

function moved(column, numbers, count, scale = 1) {
	const target = new Float64Array(count);
	column.forEach((value, frame) => { target[numbers[frame]] += value * scale; });
	return target;
}

/**
 * The difference between two models.
 * @param {Model} base
 * @param {Model} now
 * @param {{scale?: number}} options factor for the base's values, so that intervals of different lengths compare
 * @returns {Model} its values are those of `now`; those of the base are in the base columns
 */
export function diff(base, now, { scale = 1 } = {}) {
	const frames = new Frames(), builder = new TreeBuilder(true);
	const newNumbers = merge(now, frames, builder, (node, value) => builder.add(node, value, 0));
	const baseNumbers = merge(base, frames, builder,
		(node, value) => builder.add(node, 0, value * scale));
	const { count } = frames, rows = new Set(Array.from(now.rows, (row) => newNumbers[row]));
	base.rows.forEach((row) => rows.add(baseNumbers[row]));
	Object.assign(frames, {
		self: moved(now.frames.self, newNumbers, count),
		total: moved(now.frames.total, newNumbers, count),
		baseSelf: moved(base.frames.self, baseNumbers, count, scale),
		baseTotal: moved(base.frames.total, baseNumbers, count, scale),
	});
	return {
		type: now.type,
		unit: now.unit,
		by: now.by,
		total: now.total,
		baseTotal: base.total * scale,
		empty: now.empty && base.empty,
		isDiff: true,
		scale,
		frames,
		rows: Uint32Array.from(rows),
		tree: builder.finish(frames),
		sources: [now.sources[0], base.sources[0]],
	};
}
