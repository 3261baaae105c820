/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reports of Python's code objects for struct python_codes, and what it knows of them.
 */
#pragma once

#include "base/buf.h"
#include "object/reach.h"
#include "python/python_codes.h"

#include <check.h>
#include <string.h>
#include <unistd.h>

/* A report of a code object, made from the values of a test. */
struct told {
	struct python_code code;
	const char *name, *file;
	const void *lines;
};

static inline struct told told_of(uint64_t signature, const char *name, const char *file)
{
	struct told told = {
		.code = {.signature = signature,
	                 .began_ns = reach_began_boot_ns((uint32_t)getpid()),
	                 .pid = (uint32_t)getpid(),
	                 .version = 0x030b,
	                 .first_line = 10,
	                 .lines_bytes = 3,
	                 .name_bytes = (uint16_t)strlen(name),
	                 .file_bytes = (uint16_t)strlen(file),
	                 .name_kind = 1,
	                 .file_kind = 1},
		.name = name,
		.file = file,
		.lines = "\xd8\x00\x00", /* line 11, for one instruction */
	};

	return told;
}

static inline int tell_of(struct python_codes *codes, uint32_t owner, const struct told *told)
{
	_cleanup_(buf_release) struct buf bytes = BUF_INIT;
	size_t lines = told->code.lines_bytes;

	buf_add(&bytes, &told->code, sizeof(told->code));
	buf_add(&bytes, told->name, told->code.name_bytes);
	buf_add(&bytes, told->file, told->code.file_bytes);
	buf_add(&bytes, told->lines, lines < MAX_PYTHON_LINES ? lines : MAX_PYTHON_LINES);
	return python_codes_add(codes, owner, bytes.data, bytes.len);
}

static inline int tell(struct python_codes *codes, const struct told *told)
{
	return tell_of(codes, 1000, told);
}

static inline void check_place(struct python_codes *codes, uint64_t signature, const char *function,
                               const char *file, uint32_t line)
{
	struct runtime_frame place;

	ck_assert(python_codes_find(codes, signature, 0, &place));
	ck_assert_str_eq(place.function, function);
	ck_assert_str_eq(place.file, file);
	ck_assert_uint_eq(place.line, line);
}
