/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct pythons - which processes run CPython, and what the kernel half must know to walk them.
 * Files are looked into on a worker thread, each once; processes are published as soon as theirs is
 * known, so many of each user (base/shares.h). Loop thread only.
 */
#pragma once

#include "bpf/python.h"
#include "proc/proc.h"
#include "reader/reader.h"

#include <stdbool.h>
#include <uv.h>

struct pythons;

/* Where a process's description goes: the map that the kernel half reads. */
struct python_sink {
	int (*set)(uint32_t pid, const struct python_process *process, void *ctx);
	void (*unset)(uint32_t pid, void *ctx);
	void *ctx;
};

#define PYTHONS_STATS(STAT)                                                           \
	STAT(processes, gauge, "Processes that run CPython")                          \
	STAT(files, gauge, "Executables and libraries with a CPython in them")        \
	STAT(files_failed, counter, "Such files of a version or form not understood") \
	STAT(processes_refused, counter, "Such processes there was no room for")

struct pythons_stats {
#define STAT(name, type, help) uint64_t name;
	PYTHONS_STATS(STAT)
#undef STAT
};

/* Watches the process table, which it must not outlive, nor the loop. NULL when out of memory. */
struct pythons *pythons_new(uv_loop_t *loop, struct procs *procs, struct store *store,
                            const struct python_sink *sink);
/* Takes up no more work; pythons_free() after the loop has run out. */
void pythons_stop(struct pythons *pythons);
void pythons_free(struct pythons *pythons); /* takes NULL */

/* What the process table learned since the last call reaches the sink. */
void pythons_sync(struct pythons *pythons);
/* The version that a process runs, as in sys.hexversion >> 16; 0 when it runs none. Known until the
 * process table forgets it. */
uint32_t pythons_version(const struct pythons *pythons, uint32_t pid);
/* When that program began, by CLOCK_BOOTTIME, or a little later; `image_ns` is the same as its
 * struct image has it, and 0 is returned where it is another one. */
uint64_t pythons_began(const struct pythons *pythons, uint32_t pid, uint64_t image_ns);
/* What the sink was given of a process; false when it has nothing of it now. */
bool pythons_describe(const struct pythons *pythons, uint32_t pid,
                      struct python_process *ret_process);
/* The user whose process it is (proc/owner.h), when it runs one. */
uint32_t pythons_owner(const struct pythons *pythons, uint32_t pid);
void pythons_get_stats(const struct pythons *pythons, struct pythons_stats *ret_stats);
/* Adds those of the process that looks into files. */
void pythons_add_reader_stats(const struct pythons *pythons, struct reader_stats *stats);
