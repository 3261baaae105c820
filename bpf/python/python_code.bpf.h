/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Code objects: the signature by which frames name them, and what is sent to the daemon of one that
 * was not met before. Its names are copied now, while the code runs, because a moment later the
 * process may be gone.
 */
#pragma once

#include "bpf/hash.bpf.h"
#include "bpf/python/python_read.bpf.h"

static __always_inline u64 name_of(const struct python_walk *python)
{
	u16 qualname = python->process.code_qualname;

	return code_word(python, qualname ? qualname : python->process.code_name);
}

static __always_inline int is_object(u64 at)
{
	return is_user_address(at) && at % sizeof(u64) == 0;
}

/* Whether what was read is a code object: frames also run things that are none. */
static __always_inline int is_code(const struct python_walk *python)
{
	u64 file = code_word(python, python->process.code_filename);

	return is_object(file) && is_object(name_of(python)) && file != name_of(python) &&
	       is_object(code_word(python, python->process.code_lines));
}

static __always_inline u64 sign(const struct python_walk *python)
{
	u64 hash = mix_first((u64)python->pid << 32 | python->image, python->code);

	hash = mix(hash, name_of(python));
	hash = mix(hash, code_word(python, python->process.code_filename));
	hash = mix(hash, code_int(python, python->process.code_first_line));
	hash = mix(hash, code_word(python, python->process.code_lines));
	return (hash ^ hash >> 7) & WORD_VALUE;
}

struct text {
	u32 bytes;    /* copied */
	u8 kind, cut; /* kind 0: not readable */
};

/* Copies a str object's characters to python->told_texts. */
static __always_inline struct text copy_text(struct python_walk *python, u64 at, u32 to, u32 max)
{
	const struct python_process *process = &python->process;
	struct text text = {0};
	u64 length = 0, bytes;
	u32 state = 0, width, ascii;

	if (bpf_probe_read_user(&length, sizeof(length), (void *)(at + process->text_length)) ||
	    bpf_probe_read_user(&state, sizeof(state), (void *)(at + process->text_state)))
		return text;
	ascii = state >> (process->ascii_shift & 31) & 1;
	width = state >> (process->kind_shift & 31) & 7;
	if (length > (1U << 30) || (width != 1 && width != 2 && width != 4))
		return text;
	bytes = length * width;
	text.cut = bytes > max;
	if (bytes > max)
		bytes = max;
	at += ascii ? process->text_ascii : process->text_compact;
	barrier_var(bytes);
	barrier_var(to);
	if (bytes > max || to > MAX_PYTHON_NAME ||
	    bpf_probe_read_user(&python->told_texts[to], bytes, (void *)at))
		return text;
	text.bytes = bytes;
	text.kind = width > 1 ? width : ascii ? 1 : 3;
	return text;
}

/* Copies the line table; returns how many of its bytes were copied. */
static __always_inline u32 copy_lines(struct python_walk *python, u32 to)
{
	const struct python_process *process = &python->process;
	u64 lines = code_word(python, process->code_lines);
	u64 length = 0, bytes;

	if (bpf_probe_read_user(&length, sizeof(length), (void *)(lines + process->bytes_length)) ||
	    length > (1U << 30))
		return 0;
	bytes = length < MAX_PYTHON_LINES ? length : MAX_PYTHON_LINES;
	lines += process->bytes_data;
	barrier_var(bytes);
	barrier_var(to);
	if (bytes > MAX_PYTHON_LINES || to > MAX_PYTHON_NAME + MAX_PYTHON_FILE ||
	    bpf_probe_read_user(&python->told_texts[to], bytes, (void *)lines))
		return 0;
	python->told.lines_address = lines;
	python->told.lines_bytes = length;
	return bytes;
}

/* Sends the daemon the code object at which the walk stands; 0 when all of it could be sent. A
 * global function, which the verifier checks alone. python->code_words holds what was read. */
u32 python_tell(u32 at);
__noinline u32 python_tell(u32 at)
{
	struct python_walk *python = python_get(at);
	struct ring_user *user;
	struct text name, file;
	u32 bytes, lines;

	if (!python)
		return 1;
	user = python_user_with_room(python);
	if (!user) {
		count(at, COUNTER_python_codes_put_off, 1);
		return 1;
	}
	python->told = (struct python_code){
		.signature = python->signature,
		.time_ns = bpf_ktime_get_ns(),
		.began_ns = task_began(),
		.pid = python->pid,
		.version = python->process.version,
		.first_line = code_int(python, python->process.code_first_line),
	};
	name = copy_text(python, name_of(python), 0, MAX_PYTHON_NAME);
	file = copy_text(python, code_word(python, python->process.code_filename), name.bytes,
	                 MAX_PYTHON_FILE);
	lines = copy_lines(python, name.bytes + file.bytes);
	python->told.name_bytes = name.bytes;
	python->told.name_kind = name.kind;
	python->told.file_bytes = file.bytes;
	python->told.file_kind = file.kind;
	python->told.cut = name.cut | file.cut << 1;
	bytes = sizeof(python->told) + name.bytes + file.bytes + lines;
	barrier_var(bytes);
	if (bytes > MAX_PYTHON_CODE ||
	    bpf_ringbuf_output(&python_codes, &python->told, bytes, 0) != 0) {
		count(at, COUNTER_python_codes_lost, 1);
		return 1;
	}
	ring_user_charge(&python_codes, user, bytes);
	if (!name.kind || !file.kind || !python->told.lines_address) {
		count(at, COUNTER_python_codes_lost, 1);
		return 1;
	}
	count(at, COUNTER_python_codes, 1);
	return 0;
}

/* Each signature has two slots, so that two signatures that share them need not be sent again and
 * again. */
static __always_inline void tell_once(struct python_walk *python)
{
	u32 at = python->signature & (PYTHON_SENT - 1), other = at ^ 1;
	u64 *first = bpf_map_lookup_elem(&python_sent, &at);
	u64 *second = bpf_map_lookup_elem(&python_sent, &other);

	if (!first || !second || *first == python->signature || *second == python->signature)
		return;
	/* Looked up here, as the BPF stack has no room for one more call in python_tell(). */
	python->place = user_place();
	if (python_tell(python->at) == 0) {
		*second = *first;
		*first = python->signature;
	}
}
