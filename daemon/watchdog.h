/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * When to tell the service manager that profd still works (sd_watchdog_enabled(3)): only when it
 * has just done what it is for, and drained the kernel half. A loop that turns, timers that tick
 * and HTTP that is answered are no progress. So a drain that fails or never comes ends in a
 * restart.
 *
 * Nothing is told by a timer: after a stop (SIGSTOP, a host that was suspended) the first drain,
 * due at once, is told at once, whatever the order in which late timers fire. The manager's own
 * time is CLOCK_MONOTONIC, which does not run while the host is suspended.
 *
 * Loop thread. Drains come once a second, so a limit below a few seconds cannot be kept.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct watchdog {
	uint64_t gap_ns; /* between two messages at least; 0: nobody wants any */
	uint64_t told_mono_ns;
};

/* By $WATCHDOG_USEC and $WATCHDOG_PID, which are forgotten. A limit that is no number is none. */
void watchdog_init(struct watchdog *watchdog);
/* A drain has gone well: whether that is to be told now, which then counts as done. */
bool watchdog_progress(struct watchdog *watchdog, uint64_t now_mono_ns);
