/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The jitdump file of a process, which it has mapped: jit-PID.dump, in whatever folder.
 */
#pragma once

#include "jit/jit_codes.h"
#include "jit/jit_file.h"

/* Whether a mapped file is one, by its name, jit-NUMBER.dump. */
bool jit_dump_file_is(const char *path, uint64_t *ret_number);
/* As jit_map_open() and jit_map_read(). */
int jit_dump_file_open(struct jit_file *file, const struct jit_where *where);
ssize_t jit_dump_file_read(struct jit_file *file, struct jit_codes *told);
