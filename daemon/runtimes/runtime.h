/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct runtime - an interpreter or a virtual machine: the frames of the code that it runs are
 * data in the memory of its processes. A runtime recognizes its processes, describes them to the
 * BPF programs that walk them, and gives the frames that these find their names. Each one is a line
 * of RUNTIMES in bpf/tables.h and a folder; code that handles all runtimes names none. Hooks run on
 * the loop thread. All but open(), stop(), free(), sync(), find() and version() may be NULL. `own`
 * is what open() made.
 */
#pragma once

#include "base/figure.h"
#include "base/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <uv.h>

struct bpf;
struct crew;
struct procs;
struct reader_stats;
struct runtime_tasks_plan;
struct store;

/* What a runtime works with. All of it outlives the runtime. */
struct runtime_config {
	uv_loop_t *loop;
	struct bpf *bpf;
	struct procs *procs;
	struct store *store;
	struct crew *crew;     /* reads processes' memory */
	const uint64_t *execs; /* see bpf/execs.h */
};

/* A frame of interpreted code. The strings are valid until the runtime reads or is asked again. */
struct runtime_frame {
	const char *function, *file; /* UTF-8 */
	uint32_t line;               /* being executed; 0: not known */
	uint32_t first_line;         /* of the function */
	uint32_t version;            /* of the runtime: major << 8 | minor */
	uint64_t identity; /* equal wherever function, file, first line and line are equal */
};

/* The identity of a function and of a line in it. Each string is hashed with its NUL, so that "ab",
 * "c" differs from "a", "bc". */
static inline uint64_t runtime_function_identity(const char *function, const char *file,
                                                 uint32_t first_line)
{
	uint64_t hash = hash_bytes(HASH_START, function, strlen(function) + 1);

	hash = hash_bytes(hash, file, strlen(file) + 1);
	return hash_bytes(hash, &first_line, sizeof(first_line));
}

static inline uint64_t runtime_line_identity(uint64_t function, uint32_t line)
{
	return hash_bytes(function, &line, sizeof(line));
}

/* A thread as a sample found it. */
struct runtime_thread {
	uint32_t pid, tid;
	uint32_t image;   /* as in struct tally_key */
	uint64_t mono_ns; /* when; the id may belong to another thread at other times */
};

struct runtime {
	const char *name; /* the label `runtime`, and the part of /status */
	/* Called after the BPF programs are loaded. 0 or a negative errno. */
	int (*open)(const struct runtime_config *config, void **ret_own);
	/* Called when the loop is about to run, and when it is about to end, whether or not it was
	 * started. start() returns 0 or the negative errno of what the runtime goes on without. */
	int (*start)(void *own, uv_loop_t *loop);
	void (*stop)(void *own);
	void (*free)(void *own); /* after the loop has ended, or without start() */

	/* Describes the processes that the process table has learned of since the last call. */
	void (*sync)(void *own);
	/* Reads what its BPF programs have reported up to now. A frame's code is reported before
	 * the first sample that has the frame, and a drain follows. */
	void (*read)(void *own);

	/* Finds what the words of a frame (bpf/words.h) stand for. False: not known, now or any
	 * more; then the BPF programs report the code again when they meet it again. */
	bool (*find)(void *own, uint64_t name, uint32_t offset, struct runtime_frame *ret_frame);
	/* The version that a process runs, as in struct runtime_frame; 0: it does not run this
	 * runtime. Known until the process table forgets the process. */
	uint32_t (*version)(const void *own, uint32_t pid);
	/* When a process's program began, by CLOCK_BOOTTIME, or a little later; 0: not known.
	 * `image_mono_ns` is its start as in its struct image. */
	uint64_t (*began)(const void *own, uint32_t pid, uint64_t image_mono_ns);
	/* The name that the program gave a thread, valid until the next call; NULL: none is known.
	 */
	const char *(*thread_name)(void *own, const struct runtime_thread *thread);

	/* Plans a reading of a process's tasks (runtimes/tasks.h). NULL, or why there can be none:
	 * it is not a process of this runtime, or its version does not tell. */
	const char *(*plan_tasks)(const void *own, uint32_t pid,
	                          struct runtime_tasks_plan *ret_plan);

	void (*figures)(const void *own, figure_fn *fn, void *ctx);
	/* Adds the statistics of its reader processes. */
	void (*add_reader_stats)(const void *own, struct reader_stats *stats);
};
