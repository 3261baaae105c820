/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The Python frames of a thread state as words, and the runs they form. A run is all frames that
 * one native frame of the interpreter's loop runs, with an address that lies within that native
 * frame.
 */
#pragma once

#include "bpf/python/python_code.bpf.h"

/* Without a GIL, each thread has its own copy of the bytecode, which specializes itself. 0: not
 * known. */
static __always_inline u64 bytecode_of(const struct python_walk *python)
{
	const struct python_process *process = &python->process;
	u32 index = frame_int(python, process->frame_tlbc);
	u64 array = code_word(python, process->code_tlbc), size = 0;

	if (!process->frame_tlbc || !process->code_tlbc || !array)
		return python->code + process->code_bytecode;
	if (!is_user_address(array) || bpf_probe_read_user(&size, sizeof(size), (void *)array) ||
	    index >= size)
		return 0;
	return python_pointer(array + (1 + (u64)index) * sizeof(u64));
}

static __always_inline u64 offset_of(const struct python_walk *python)
{
	const struct python_process *process = &python->process;
	u64 bytecode;
	s64 offset;

	if (process->entry >= PYTHON_ENTRY_RUN) {
		bytecode = bytecode_of(python);
		offset = bytecode ? frame_word(python, process->frame_instruction) - bytecode : 0;
	} else {
		offset = (s64)frame_int(python, process->frame_instruction) * process->last_unit;
	}
	return offset < 0 || offset > 1 << 24 ? 0 : offset;
}

static __always_inline void put_word(struct python_walk *python, u64 word)
{
	python->words[python->words_len++ & (PYTHON_WORDS - 1)] = word;
}

/* Adds the frame that was read, as two words. */
static __always_inline void put_frame(struct python_walk *python)
{
	/* The low bits of the pointer are tags; objects are aligned to more. */
	python->code = frame_word(python, python->process.frame_code) & ~3ULL;
	if (python->words_len > PYTHON_WORDS - 4) {
		python->truncated = 1;
		return;
	}
	if (read_code(python)) {
		python->broken++;
		return;
	}
	if (!is_code(python)) {
		python->bare++;
		return;
	}
	python->signature = sign(python);
	tell_once(python);
	put_word(python, WORD_PYTHON | python->signature);
	put_word(python, WORD_OFFSET | offset_of(python));
}

static __always_inline void end_run(struct python_walk *python, u64 entry)
{
	struct python_run *run = &python->runs[python->runs_len++ & (PYTHON_RUNS - 1)];

	run->entry = entry;
	run->end = python->words_len;
}

static __always_inline void end_run_at_cframe(struct python_walk *python)
{
	end_run(python, python->cframe);
	python->cframe = python_pointer(python->cframe + python->process.cframe_previous);
}

static __always_inline u64 frame_of_cframe(const struct python_walk *python)
{
	return python_pointer(python->cframe + python->process.cframe_current);
}

/* Adds the frame that was read to its run, or ends the run. */
static __always_inline void add_frame(struct python_walk *python, u64 frame)
{
	u8 entry = python->process.entry;

	if (entry == PYTHON_ENTRY_SHIM &&
	    frame_byte(python, python->process.frame_owner) >= PYTHON_OWNER_SHIM) {
		end_run(python, frame);
		return;
	}
	put_frame(python);
	if (entry == PYTHON_ENTRY_LOOP)
		end_run(python, 0);
	else if (entry == PYTHON_ENTRY_EACH)
		end_run_at_cframe(python);
	else if (entry == PYTHON_ENTRY_RUN && frame_byte(python, python->process.frame_entry))
		end_run_at_cframe(python);
}

/* Whether there is no more room and it is known where the last run ends. */
static __always_inline int is_full(const struct python_walk *python)
{
	u32 last = (python->runs_len - 1) & (PYTHON_RUNS - 1);

	return python->runs_len >= PYTHON_RUNS - 1 ||
	       (python->truncated && python->runs[last].end == python->words_len);
}

/* Whether the frames may come from a cframe that is linked and not filled yet. When its loop is
 * about to begin, it contains what happened to be on the stack. Following that fails soon, while
 * the cframe of its caller is as before. */
static __always_inline int is_unfilled(const struct python_walk *python)
{
	return python->process.cframe_previous && python->process.entry != PYTHON_ENTRY_EACH &&
	       !python->started_again && python->runs_len <= 2;
}

static __always_inline void start_again(struct python_walk *python)
{
	u64 first = python_pointer(python->thread + python->process.thread_frame);

	python->started_again = 1;
	python->words_len = python->runs_len = 0;
	python->cframe = python_pointer(first + python->process.cframe_previous);
	python->frame = frame_of_cframe(python);
}

/* Entries lie further and further up the stack; where they do not, frames may form a circle. */
static __always_inline int ascends(const struct python_walk *python)
{
	u32 last = python->runs_len - 1;

	return python->process.entry < PYTHON_ENTRY_RUN || python->runs_len < 2 ||
	       python->runs[last & (PYTHON_RUNS - 1)].entry >
	               python->runs[(last - 1) & (PYTHON_RUNS - 1)].entry;
}

/* Loads one frame and goes to its caller. */
static long load_frame(u32 index, void *context)
{
	struct python_walk *python = python_get(*(const u32 *)context);
	u64 frame;

	if (!python || !python->frame)
		return 1;
	frame = python->frame;
	if (python->bare < PYTHON_MAX_BARE && read_frame(python) == 0) {
		python->frame = frame_word(python, python->process.frame_previous);
		add_frame(python, frame);
		/* The outermost entry need not be on the stack. */
		if (ascends(python) || !python->frame)
			return is_full(python);
	}
	if (is_unfilled(python)) {
		start_again(python);
		return 0;
	}
	python->broken++;
	return 1;
}

/* Finds where a thread state's frames begin. */
static __always_inline void find_frame(struct python_walk *python)
{
	const struct python_process *process = &python->process;
	u64 first = python_pointer(python->thread + process->thread_frame);

	python->cframe = process->cframe_previous ? first : 0;
	if (process->entry == PYTHON_ENTRY_EACH)
		python->frame = python_pointer(python->thread + process->thread_top_frame);
	else if (python->cframe)
		python->frame = frame_of_cframe(python);
	else
		python->frame = first;
	if (!python->frame && is_unfilled(python))
		start_again(python);
}

/* 3.10 links a loop's cframe before its frame, and also unlinks it first. So for a moment there may
 * be one cframe too many or too few. The outermost cframe is the thread state's own and has no
 * frame. */
static __always_inline void compare_cframes(struct python_walk *python)
{
	u16 previous = python->process.cframe_previous;
	struct python_run *last = &python->runs[(python->runs_len - 1) & (PYTHON_RUNS - 1)];

	if (python->frame || python->broken || python->runs_len == 0)
		return;
	if (!last->entry || !python_pointer(last->entry + previous)) {
		python->shift = 1;
		python->runs_len--;
	} else if (python->cframe && python_pointer(python->cframe + previous)) {
		end_run(python, python->cframe);
		python->shift = -1;
	}
}

static __always_inline void load_frames(struct python_walk *python)
{
	u32 at = python->at;

	python_measure(python);
	find_frame(python);
	bpf_loop(PYTHON_MAX_FRAMES, load_frame, &at, 0);
	if (python->runs_len >= PYTHON_RUNS - 1 && python->frame)
		python->truncated = 1;
	if (python->process.entry == PYTHON_ENTRY_EACH)
		compare_cframes(python);
}
