/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Threads for what waits and is no job of a lane or a crew. Signals are the loop thread's: others
 * have all of them blocked. Any thread; 0 or a negative errno.
 */
#pragma once

#include <pthread.h>
#include <stddef.h>

typedef void *thread_fn(void *ctx);

int thread_start(pthread_t *ret_thread, thread_fn *fn, void *ctx); /* to be joined */
int thread_start_detached(size_t stack_bytes, thread_fn *fn, void *ctx);
