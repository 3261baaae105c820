/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct jit_file - a file in which a process tells of its generated code, and how far it was read.
 * Only a file that belongs to the user of the process counts. A program that runs with other
 * privileges than those of the user that started it has none. Functions that take one wait for file
 * systems, so they are for the threads of a crew; one thread at a time.
 */
#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Times of processes and files are those of a tick, and the wall clock may be adjusted a little. */
#define JIT_SLACK_NS 100000000ULL

enum {
	JIT_READ_BYTES = 256 * 1024, /* at most, in one reading: some 4,000 lines of a map */
	JIT_TOLD_EACH = 8192,        /* pieces of code in one reading; the rest follows */
};

struct jit_file {
	int fd; /* -1: not open */
	uint64_t device, inode;
	uint64_t offset;   /* read up to here */
	uint64_t tail;     /* of jit/jit_map.c: a hash of what is before the offset */
	bool has_low_rows; /* of jit/jit_dump.h */
};

#define JIT_FILE_CLOSED ((struct jit_file){.fd = -1})

/* A program that may have such files. */
struct jit_where {
	uint32_t pid;
	uint64_t began_ns; /* when the program began, by CLOCK_MONOTONIC; 0: not known */
	uint64_t dump_start, dump_end; /* the mapping of its jitdump; 0: it has none */
	uint64_t dump_number;          /* N of its name, jit-N.dump */
	uint64_t number; /* by which the process knows itself, when files are opened */
};

/* The number by which a process knows itself, in its innermost pid namespace. 0 or -ENOENT. */
int jit_own_number(uint32_t pid, uint64_t *ret_number);
/* Whether the process with that pid may be the one that runs the program. */
bool jit_where_is(const struct jit_where *where);

/* Whether the file that was opened may be the process's own. */
bool jit_file_is_of(const struct stat *status, uint32_t pid);
bool jit_file_is(const struct jit_file *file, const struct stat *status);
/* Makes it the file from now on, to be read from `offset`, or from where it was read to before it
 * was closed. Takes ownership of the descriptor. */
void jit_file_take(struct jit_file *file, int fd, const struct stat *status, uint64_t offset);
void jit_file_close(struct jit_file *file); /* remembers which file it was */
