/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Whether any process or thread has one of some names now, according to /proc. This opens a file
 * for each thread of the host, so it is slow. No state; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* True when a process or thread has exactly one of the names. Also true when that cannot be
 * determined: without /proc, or with more than MAX_TASKS_ASKED threads. */
enum { MAX_TASKS_ASKED = 32768 };
bool task_names_any(const char *const *names, size_t count);
