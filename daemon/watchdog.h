/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Decides when to report to the service manager that profd works (sd_watchdog_enabled(3)): only
 * after it has drained the kernel half, which is its purpose. A loop that turns, timers that fire
 * and HTTP requests that are answered do not count. So drains that fail or do not happen end in a
 * restart.
 *
 * No timer sends the report: after a stop (SIGSTOP, a host that was suspended) the first drain,
 * which is due at once, is reported at once, in whatever order late timers fire. The service
 * manager measures by CLOCK_MONOTONIC, which does not run while the host is suspended.
 *
 * Loop thread. Drains happen once a second, so a limit below a few seconds cannot be kept.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct watchdog {
	uint64_t gap_ns; /* minimum between two messages; 0: no messages are wanted */
	uint64_t told_mono_ns;
};

/* Reads $WATCHDOG_USEC and $WATCHDOG_PID, and removes them. A limit that is not a number counts as
 * none. */
void watchdog_init(struct watchdog *watchdog);
/* To be called after a successful drain. True: a message is due now, and is taken to be sent. */
bool watchdog_progress(struct watchdog *watchdog, uint64_t now_mono_ns);
