/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The records of a jitdump file, jit-PID.dump, in which a program describes the code that it
 * generates, with its lines. The program maps the file as if it were code, which is how profilers
 * learn of it. Format: Linux, tools/perf/Documentation/jitdump-specification.txt. Pure.
 */
#pragma once

#include "jit/jit_codes.h"
#include "jit/jit_file.h"

enum { JIT_DUMP_LINES_EACH = 16384 }; /* of one piece of code; further ones are left out */

/* The number of bytes of the header at the beginning of a file; 0: it has none that is known. */
size_t jit_dump_header(const uint8_t *bytes, size_t len);

/* Appends the codes of the records at the beginning of the bytes, JIT_TOLD_EACH at most; what
 * follows names and lines in a record is not looked at. `is_full` tells that there is no room for
 * more bytes at once: a record that does not fit is then left out. Sets `*ret_next` to where the
 * next record begins, which may be behind the bytes. `*has_low_rows` is false for a new file, and
 * is kept for its next bytes. 0, -ENOMEM, or -EBADMSG: what follows are no records. */
int jit_dump_read(const uint8_t *bytes, size_t len, bool is_full, bool *has_low_rows,
                  struct jit_codes *told, uint64_t *ret_next);
