/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Whether a process or a thread has a name now, as /proc says. It opens a file for each thread of
 * the host, so it is for who has time. No state; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* One of the names is that of a process or a thread, exactly. Also true when that cannot be found
 * out: without /proc, or with more than MAX_TASKS_ASKED threads. */
enum { MAX_TASKS_ASKED = 32768 };
bool task_names_any(const char *const *names, size_t count);
