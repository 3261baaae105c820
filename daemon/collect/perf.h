/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * perf_event_open(2), and which CPUs are there to open it on.
 */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kernel's own levels of kernel.perf_event_paranoid end here; Documentation/admin-guide/sysctl/
 * kernel.rst. */
enum { MAX_KERNEL_PARANOIA = 2 };

/* A descriptor for all tasks on one CPU, close-on-exec; or negative errno. */
int perf_open_cpu(struct perf_event_attr *attr, uint32_t cpu);

/* The same for the calling thread, on whatever CPU. */
int perf_open_own(struct perf_event_attr *attr);

/* Distributions have levels of kernel.perf_event_paranoid above the kernel's own 2: nobody without
 * CAP_SYS_ADMIN may, whatever CAP_PERFMON says (Debian: 3, Ubuntu: 4). */
bool perf_wants_admin(void);

/* Why it failed with an error, and what to do about that. */
void perf_explain(int err, char why[256]);

/* Parses "0-3,5": calls of the form set[cpu] = true for cpu < count, the rest false. -EBADMSG. */
int cpulist_parse(const char *text, size_t len, bool *set, size_t count);
/* The CPUs that are online now. */
int cpulist_online(bool *set, size_t count);
/* One more than the highest number a CPU can have: they need not be consecutive. */
int cpulist_limit(uint32_t *ret_limit);
