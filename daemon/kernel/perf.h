/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * perf_event_open(2), and the lists of CPUs to open events on.
 */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The highest level of kernel.perf_event_paranoid in the mainline kernel;
 * Documentation/admin-guide/sysctl/kernel.rst. */
enum { MAX_KERNEL_PARANOIA = 2 };

/* Opens an event for all tasks on one CPU. Returns a close-on-exec descriptor or a negative
 * errno. */
int perf_open_cpu(struct perf_event_attr *attr, uint32_t cpu);

/* The same for the calling thread, on any CPU. */
int perf_open_own(struct perf_event_attr *attr);

/* Whether perf events require CAP_SYS_ADMIN. Distributions have levels of
 * kernel.perf_event_paranoid above the mainline kernel's 2 (Debian: 3, Ubuntu: 4), at which
 * CAP_PERFMON does not suffice. */
bool perf_wants_admin(void);

/* Says why opening an event failed with `err`, and what to do about it. */
void perf_explain(int err, char why[256]);

/* Parses a list such as "0-3,5": sets set[cpu] to true for its CPUs below `count`, and the rest to
 * false. 0 or -EBADMSG. */
int cpulist_parse(const char *text, size_t len, bool *set, size_t count);
/* The CPUs that are online now. */
int cpulist_online(bool *set, size_t count);
/* One more than the highest possible CPU number. CPU numbers need not be consecutive. */
int cpulist_limit(uint32_t *ret_limit);
