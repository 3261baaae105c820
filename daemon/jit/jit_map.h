/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct jit_map - the file /tmp/perf-PID.map of a process, by its own number and below its own
 * root folder, and how far it was read. Only a file that belongs to the user of the process counts,
 * and only one that was written since the program began: the file of an earlier process with that
 * number is often left there. The functions wait for file systems, so they are for the threads of a
 * crew; one thread at a time.
 */
#pragma once

#include "base/cleanup.h"
#include "jit/jit_codes.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	JIT_READ_BYTES = 256 * 1024, /* at most, in one reading: some 4,000 lines */
	JIT_TAIL_BYTES = 64,         /* see `tail` */
};

struct jit_map {
	int fd; /* -1: not open */
	uint64_t device, inode;
	uint64_t offset; /* read up to here */
	/* Hash of what is before the offset. If it differs, the file was written anew, and is read
	 * from its start: some programs write all they have each time. */
	uint64_t tail;
};

#define JIT_MAP_CLOSED ((struct jit_map){.fd = -1})

/* Opens the file, or another one that is there now in place of the one that is open. `began_ns` is
 * when the program began, by CLOCK_MONOTONIC; 0: not known. A file that is open stays open after an
 * error. Negative errno: there is none. */
int jit_map_open(struct jit_map *map, uint32_t pid, uint64_t began_ns);
/* Appends the codes that the file tells of since the last reading, sorted. `*ret_more` is set when
 * there is more to read at once. */
int jit_map_read(struct jit_map *map, struct jit_codes *told, bool *ret_more);
void jit_map_close(struct jit_map *map);
