/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The file /tmp/perf-PID.map of a process, by its own number and below its own root folder. It must
 * have been written since the program began: the file of an earlier process with that number is
 * often left there. Some programs write all they have each time, so a file whose beginning has
 * changed is read from there again. Other users may make links there, which are not followed.
 */
#pragma once

#include "jit/jit_codes.h"
#include "jit/jit_file.h"

/* Opens the file, or another one that is there now in place of the one that is open. A file that is
 * open stays open after an error. Negative errno: there is none. */
int jit_map_open(struct jit_file *file, const struct jit_where *where);
/* Appends the codes that the file tells of since the last reading. Returns how many bytes it has
 * read, JIT_READ_BYTES at most: then there may be more. */
ssize_t jit_map_read(struct jit_file *file, struct jit_codes *told);
