/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What `systemctl status` shows of profd: one line of how it is doing, with the CPU time that
 * all its processes and programs have taken since the line before. Loop thread.
 */
#pragma once

#include "config.h"

struct collector;
struct history;

enum { REPORT_BYTES = 128 };

struct report {
	const struct config *config;
	const struct collector *collector;
	const struct history *history;
	uint64_t mono_ns, cpu_ns; /* as of the last line, or of the start */
};

/* "99 Hz, 2 CPUs, 0.4 % of a core, history 10m (6 MiB)". */
void report_write(struct report *report, char ret_line[REPORT_BYTES]);
