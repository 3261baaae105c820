/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct python_threads - the names that Python programs give their threads. The kernel half
 * reports a thread when it is first sampled. Soon after, the program's memory is read for the
 * thread's name, on a separate lane, and again every few seconds while the program is sampled,
 * because names change. Bounded in threads, for all users and for each one, in names, and in the
 * time that reading takes. Loop thread only.
 */
#pragma once

#include "bpf/python.h"

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

struct python_threads;

struct python_threads_hooks {
	/* Describes the process's CPython; false when it is not known to run one. */
	bool (*describe)(void *ctx, uint32_t pid, struct python_process *ret_process);
	uint32_t (*owner)(void *ctx, uint32_t pid); /* the user that runs it */
	void *ctx;
	/* As in bpf/execs.h: a program may exec another one, with other privileges, while its
	 * memory is read. */
	const uint64_t *execs;
};

#define PYTHON_THREADS_STATS(STAT)                                                            \
	STAT(threads, gauge, "Known threads of Python programs")                              \
	STAT(threads_named, gauge, "Threads of Python programs whose names are known")        \
	STAT(threads_refused, counter,                                                        \
	     "Threads of Python programs refused for lack of room, in all or for their user") \
	STAT(threads_readings, counter, "Readings of the thread names of a Python program")   \
	STAT(threads_readings_empty, counter,                                                 \
	     "Readings of Python programs in which no thread name was found yet")             \
	STAT(threads_readings_hung, counter,                                                  \
	     "Readings of thread names given up because they took too long")                  \
	STAT(threads_reading_seconds, seconds,                                                \
	     "CPU time spent reading thread names of Python programs")                        \
	STAT(threads_readings_late, counter,                                                  \
	     "Readings of thread names put off because their CPU time budget was used up")

struct python_threads_stats {
#define STAT(name, type, help) uint64_t name;
	PYTHON_THREADS_STATS(STAT)
#undef STAT
};

/* Must be freed before the loop. NULL when out of memory. */
struct python_threads *python_threads_new(uv_loop_t *loop,
                                          const struct python_threads_hooks *hooks);
/* Accepts no more work; call python_threads_free() after the loop has ended. */
void python_threads_stop(struct python_threads *threads);
void python_threads_free(struct python_threads *threads); /* accepts NULL */

/* Takes a report of the kernel half if it is a struct python_thread_told. False: it is not. */
bool python_threads_add(struct python_threads *threads, const void *bytes, size_t len);
/* To be called when a thread was sampled at that time. Returns the name that its program gave it,
 * valid until the next call; NULL: no name is known. */
const char *python_threads_name(struct python_threads *threads, uint32_t pid, uint32_t image,
                                uint32_t tid, uint64_t mono_ns);
void python_threads_get_stats(const struct python_threads *threads,
                              struct python_threads_stats *ret_stats);
