/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct python_threads - what Python programs call their threads. The kernel half tells of a
 * thread when it is first sampled; soon after, the program's memory is read for its name, on a lane
 * of its own, and again every few seconds while the program is sampled, because names change.
 * Bounded in threads, of all and of each user, in names, and in the time that reading takes. Loop
 * thread only.
 */
#pragma once

#include "bpf/python.h"

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

struct python_threads;

struct python_threads_hooks {
	/* How the process's CPython is built; false when it is not known to run one. */
	bool (*describe)(void *ctx, uint32_t pid, struct python_process *ret_process);
	uint32_t (*owner)(void *ctx, uint32_t pid); /* whose it is */
	void *ctx;
	/* As bpf/execs.h has them: a program may call another one, with other rights, while its
	 * memory is read. */
	const uint64_t *execs;
};

#define PYTHON_THREADS_STATS(STAT)                                                             \
	STAT(threads, gauge, "Threads of Python programs that are known")                      \
	STAT(threads_named, gauge, "Those of them whose name is known")                        \
	STAT(threads_refused, counter,                                                         \
	     "Such threads there was no room for, or none for their user")                     \
	STAT(threads_readings, counter, "Times that a program was read for their names")       \
	STAT(threads_readings_empty, counter, "Those times of a program that had none so far") \
	STAT(threads_reading_seconds, seconds, "CPU time that it took")                        \
	STAT(threads_readings_late, counter, "Times that it waited, as reading had taken too long")

struct python_threads_stats {
#define STAT(name, type, help) uint64_t name;
	PYTHON_THREADS_STATS(STAT)
#undef STAT
};

/* Must not outlive the loop. NULL when out of memory. */
struct python_threads *python_threads_new(uv_loop_t *loop,
                                          const struct python_threads_hooks *hooks);
/* Takes up no more work; python_threads_free() after the loop has run out. */
void python_threads_stop(struct python_threads *threads);
void python_threads_free(struct python_threads *threads); /* takes NULL */

/* Takes what the kernel half tells if it is a struct python_thread_told; false when it is not. */
bool python_threads_add(struct python_threads *threads, const void *bytes, size_t len);
/* A thread was sampled at that time: the name that its program gave it, valid until the next call;
 * NULL: none is known. */
const char *python_threads_name(struct python_threads *threads, uint32_t pid, uint32_t image,
                                uint32_t tid, uint64_t mono_ns);
void python_threads_get_stats(const struct python_threads *threads,
                              struct python_threads_stats *ret_stats);
