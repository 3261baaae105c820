/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct pythons - which processes run CPython, and what the kernel half must know to walk them.
 * Each file is examined once, on a worker thread. A process is published as soon as its file is
 * known, up to each user's share (base/shares.h). Loop thread only.
 */
#pragma once

#include "bpf/python.h"
#include "cpython/python_tasks.h"
#include "proc/proc.h"
#include "reader/reader.h"

#include <stdbool.h>
#include <uv.h>

struct pythons;

/* Receives the description of a process: the map that the kernel half reads. */
struct python_sink {
	int (*set)(uint32_t pid, const struct python_process *process, void *ctx);
	void (*unset)(uint32_t pid, void *ctx);
	void *ctx;
};

#define PYTHONS_STATS(STAT)                                                                       \
	STAT(processes, gauge, "Processes that run CPython")                                      \
	STAT(files, gauge, "Executable files that contain CPython")                               \
	STAT(files_failed, counter, "Executable files with a CPython of unknown version or form") \
	STAT(files_put_off, counter,                                                              \
	     "Times that an executable file was not searched for CPython yet for lack of room")   \
	STAT(processes_refused, counter, "Processes that run CPython refused for lack of room")

struct pythons_stats {
#define STAT(name, type, help) uint64_t name;
	PYTHONS_STATS(STAT)
#undef STAT
};

/* Watches the process table. Must be freed before the process table and the loop. NULL when out of
 * memory. */
struct pythons *pythons_new(uv_loop_t *loop, struct procs *procs, struct store *store,
                            const struct python_sink *sink);
/* Accepts no more work; call pythons_free() after the loop has ended. */
void pythons_stop(struct pythons *pythons);
void pythons_free(struct pythons *pythons); /* accepts NULL */

/* Passes what the process table learned since the last call on to the sink. */
void pythons_sync(struct pythons *pythons);
/* The version that a process runs, as in sys.hexversion >> 16; 0 when it runs none. Known until the
 * process table forgets the process. */
uint32_t pythons_version(const struct pythons *pythons, uint32_t pid);
/* When the program began, by CLOCK_BOOTTIME, or a little later. `image_ns` is its start as in its
 * struct image; 0 is returned if the process runs another program. */
uint64_t pythons_began(const struct pythons *pythons, uint32_t pid, uint64_t image_ns);
/* What the sink was given for a process. False: the sink has nothing for it now. */
bool pythons_describe(const struct pythons *pythons, uint32_t pid,
                      struct python_process *ret_process);
/* What its files say of asyncio, from 3.14 on; all zero: it does not use it. NULL, or why that is
 * not known. */
const char *pythons_asyncio(const struct pythons *pythons, uint32_t pid,
                            struct python_asyncio *ret_asyncio);
/* The user that runs the process (proc/owner.h), if the process runs CPython. */
uint32_t pythons_owner(const struct pythons *pythons, uint32_t pid);
void pythons_get_stats(const struct pythons *pythons, struct pythons_stats *ret_stats);
/* Adds the statistics of the reader process that examines files. */
void pythons_add_reader_stats(const struct pythons *pythons, struct reader_stats *stats);
