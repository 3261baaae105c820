/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reads CPython's structures: a word of memory, or fields of a structure that was read whole.
 * Whatever an offset is, no access goes outside what was read.
 */
#pragma once

#include "bpf/python/python_maps.bpf.h"
#include "bpf/walk/walk.bpf.h"

static __always_inline int is_user_address(u64 at)
{
	return at >= PAGE_BYTES && at < user_end;
}

/* Reads a pointer; 0 where it is unreadable or no user address. Callers need not tell these
 * apart. */
static __always_inline u64 python_pointer(u64 at)
{
	u64 pointer = 0;

	if (!is_user_address(at) || bpf_probe_read_user(&pointer, sizeof(pointer), (void *)at))
		return 0;
	return is_user_address(pointer) ? pointer : 0;
}

static __always_inline u64 frame_word(const struct python_walk *python, u16 offset)
{
	return python->frame_words[offset / sizeof(u64) % (PYTHON_FRAME_BYTES / sizeof(u64))];
}

static __always_inline s32 frame_int(const struct python_walk *python, u16 offset)
{
	return (s32)(frame_word(python, offset) >> (offset & 4) * 8);
}

static __always_inline u8 frame_byte(const struct python_walk *python, u16 offset)
{
	return frame_word(python, offset) >> (offset & 7) * 8;
}

static __always_inline u64 code_word(const struct python_walk *python, u16 offset)
{
	return python->code_words[offset / sizeof(u64) % (PYTHON_OBJECT_BYTES / sizeof(u64))];
}

static __always_inline u32 code_int(const struct python_walk *python, u16 offset)
{
	return code_word(python, offset) >> (offset & 4) * 8;
}

static __always_inline u32 larger(u32 one, u32 other)
{
	return one > other ? one : other;
}

/* Computes how many bytes of a structure must be read: the memory behind it may not be mapped. */
static __always_inline void python_measure(struct python_walk *python)
{
	const struct python_process *process = &python->process;
	u32 frame = larger(process->frame_previous, process->frame_code);
	u32 code = larger(process->code_filename, process->code_name);

	frame = larger(frame, process->frame_instruction);
	frame = larger(frame, process->frame_owner);
	frame = larger(frame, process->frame_entry);
	frame = larger(frame, process->frame_tlbc);
	frame = (frame & ~7U) + sizeof(u64);
	code = larger(code, process->code_qualname);
	code = larger(code, process->code_first_line);
	code = larger(code, process->code_lines);
	code = larger(code, process->code_tlbc);
	code = (code & ~7U) + sizeof(u64);
	python->frame_bytes = frame;
	python->code_bytes = code;
}

/* Reads the whole frame, or nothing. */
static __always_inline int read_frame(struct python_walk *python)
{
	u32 bytes = python->frame_bytes;

	barrier_var(bytes);
	if (bytes > PYTHON_FRAME_BYTES || !is_user_address(python->frame))
		return -1;
	return bpf_probe_read_user(python->frame_words, bytes, (void *)python->frame);
}

static __always_inline int read_code(struct python_walk *python)
{
	u32 bytes = python->code_bytes;

	barrier_var(bytes);
	if (bytes > PYTHON_OBJECT_BYTES || !is_user_address(python->code))
		return -1;
	return bpf_probe_read_user(python->code_words, bytes, (void *)python->code);
}
