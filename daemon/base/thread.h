/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Threads for blocking work that is no job of a lane or a crew. Only the loop thread handles
 * signals; the other threads block all of them. May be called from any thread; 0 or a negative
 * errno.
 */
#pragma once

#include <pthread.h>
#include <stddef.h>

typedef void *thread_fn(void *ctx);

int thread_start(pthread_t *ret_thread, thread_fn *fn, void *ctx); /* to be joined */
int thread_start_detached(size_t stack_bytes, thread_fn *fn, void *ctx);
