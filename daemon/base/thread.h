/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Threads for blocking work that is no job of a lane or a crew. Only the loop thread handles
 * signals; the other threads block all of them. May be called from any thread; 0 or a negative
 * errno.
 */
#pragma once

#include "base/clock.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

typedef void *thread_fn(void *ctx);

int thread_start(pthread_t *ret_thread, thread_fn *fn, void *ctx); /* to be joined */
int thread_start_detached(size_t stack_bytes, thread_fn *fn, void *ctx);

/* For how long a thread, or a process's first thread, has waited for a CPU, in all: the second
 * number of its schedstat (Documentation/scheduler/sched-stats), which is open. The kernel counts a
 * wait when it ends. 0 where it does not count them, or the file is not open. */
uint64_t thread_wait_ns(int schedstat);

/* A condition whose waits end by clock_mono_ns(). */
static inline int thread_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;
	int err = pthread_condattr_init(&attr);

	if (err)
		return -err;
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	err = pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
	return -err;
}

/* Waits for a signal of the condition; false once `until_ns` has passed. With the lock. Inline, so
 * that each caller is seen to wait (tests/lint/loop). */
static inline bool thread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t until_ns)
{
	const struct timespec until = {(time_t)(until_ns / NSEC_PER_SEC),
	                               (long)(until_ns % NSEC_PER_SEC)};

	return pthread_cond_timedwait(cond, lock, &until) == 0;
}
