/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Puts Python frames where they belong among the native ones: each run before the native frame that
 * contains the run's entry. Runs without such a frame, because the native stack was truncated
 * before it, come last. Python frames up to the root come before the native frames that run them.
 * Where there is no room for both, native frames between two Python frames are left out, those next
 * to the root first.
 */
#pragma once

#include "bpf/python/python_read.bpf.h"

/* Up to 3.9 the loop's native frame is only known by where its code is. */
static __always_inline int is_in_loop(const struct python_walk *python, u64 pc)
{
#pragma clang loop unroll(full)
	for (u32 i = 0; i < PYTHON_LOOPS; i++)
		if (pc >= python->process.loops[i][0] && pc < python->process.loops[i][1])
			return 1;
	return 0;
}

static long count_loop(u32 index, void *context)
{
	u32 at = *(const u32 *)context;
	struct python_walk *python = python_get(at);
	struct scratch *scratch = scratch_get(at);

	if (!python || !scratch || index >= scratch->walk.len)
		return 1;
	python->merge.loops += is_in_loop(python, scratch->native[index % MAX_USER_FRAMES].pc);
	return 0;
}

/* How a native frame relates to the Python frames. */
enum native_kind {
	NATIVE_OTHER,
	NATIVE_RUNS, /* runs the next run */
	NATIVE_LOOP, /* a frame of the loop that runs no frame yet, or no longer */
};

static __always_inline enum native_kind kind_of(const struct python_walk *python,
                                                const struct scratch *scratch)
{
	const struct python_merge *merge = &python->merge;
	const struct native_frame *frame = &scratch->native[merge->native % MAX_USER_FRAMES];
	u64 entry = python->runs[merge->run % PYTHON_RUNS].entry;

	if (python->process.entry == PYTHON_ENTRY_LOOP) {
		if (!is_in_loop(python, frame->pc) || merge->run >= python->runs_len)
			return NATIVE_OTHER;
		return merge->alone ? NATIVE_LOOP : NATIVE_RUNS;
	}
	/* It is not known where the last native frame ends. */
	if (merge->run >= python->runs_len || merge->native + 1 >= merge->native_len)
		return NATIVE_OTHER;
	return entry >= frame->sp &&
	                       entry < scratch->native[(merge->native + 1) % MAX_USER_FRAMES].sp
	               ? NATIVE_RUNS
	               : NATIVE_OTHER;
}

static __always_inline void put(struct scratch *scratch, struct python_merge *merge, u64 word)
{
	scratch->frames[merge->len++ & (SCRATCH_FRAMES - 1)] = word;
}

/* The index behind the last word of the run that an entry has. */
static __always_inline u32 run_end(const struct python_walk *python, u32 run)
{
	u32 at = run + python->shift;

	return at < PYTHON_RUNS ? python->runs[at].end : 0;
}

/* Words reserved for the native frames outside of all Python ones: an interpreter's main() has
 * ten. */
enum { ROOT_WORDS = 64 };

static __always_inline int is_left_out(const struct python_walk *python)
{
	const struct python_merge *merge = &python->merge;
	u32 rest = python->words_len - merge->word;

	return merge->word && rest && merge->len + 1 + rest + ROOT_WORDS > SCRATCH_FRAMES - 1;
}

/* Puts a native frame, or begins the run that comes before it. */
static __always_inline void put_native(struct python_walk *python, struct scratch *scratch, u64 pc)
{
	struct python_merge *merge = &python->merge;
	enum native_kind kind = merge->in_run ? NATIVE_LOOP : kind_of(python, scratch);

	if (kind == NATIVE_RUNS) {
		merge->in_run = 1;
		merge->end = run_end(python, merge->run++);
		return;
	}
	if (kind == NATIVE_LOOP && !merge->in_run)
		merge->alone--;
	merge->in_run = 0;
	merge->native++;
	if (is_left_out(python))
		count(python->at, COUNTER_python_natives_left_out, 1);
	else
		put(scratch, merge, kind == NATIVE_LOOP ? WORD_LOOP | pc : pc);
}

/* The native frames are used up: puts the remaining Python frames. */
static __always_inline void put_rest(struct python_walk *python)
{
	struct python_merge *merge = &python->merge;

	count(python->at, COUNTER_python_unmatched, (python->words_len - merge->word) / 2);
	merge->end = python->words_len;
}

/* Puts a word, or finds out which word is next. */
static long merge_word(u32 index, void *context)
{
	u32 at = *(const u32 *)context;
	struct python_walk *python = python_get(at);
	struct scratch *scratch = scratch_get(at);
	struct python_merge *merge;
	u32 in_words, none_left;

	if (!python || !scratch)
		return 1;
	merge = &python->merge;
	in_words = merge->word < merge->end;
	none_left = merge->word >= python->words_len;
	if (merge->native >= merge->native_len && none_left && !python->truncated)
		return 1;
	/* A Python frame needs both of its words; the last word of the stack says that there are
	 * more frames. */
	if ((none_left && python->truncated) ||
	    merge->len + 1 + (in_words && merge->word % 2 == 0) > SCRATCH_FRAMES - 1) {
		scratch->walk.cut = COUNTER_cut_truncated;
		return 1;
	}
	if (in_words)
		put(scratch, merge, python->words[merge->word++ & (PYTHON_WORDS - 1)]);
	else if (merge->native < merge->native_len)
		put_native(python, scratch, scratch->native[merge->native % MAX_USER_FRAMES].pc);
	else
		put_rest(python);
	return 0;
}

/* Merges the frames into scratch->frames; returns the number of words. */
static __always_inline u32 merge_frames(struct python_walk *python, struct scratch *scratch)
{
	struct python_merge *merge = &python->merge;
	u32 at = python->at;

	__builtin_memset(merge, 0, sizeof(*merge));
	merge->native_len = scratch->walk.len;
	/* The frame that is just returning is the leaf, and has no entry any more. */
	if (python->shift > 0) {
		merge->end = python->runs[0].end;
		merge->in_run = 1;
	}
	if (python->process.entry == PYTHON_ENTRY_LOOP && !python->truncated) {
		bpf_loop(MAX_USER_FRAMES, count_loop, &at, 0);
		/* The innermost loop may have no frame: the loop is about to run one, or has just
		 * run it. If more loops have no frame, these belong to another interpreter, further
		 * out. */
		merge->alone = merge->loops == python->runs_len + 1;
	}
	bpf_loop(2 * SCRATCH_FRAMES, merge_word, &at, 0);
	return merge->len;
}
