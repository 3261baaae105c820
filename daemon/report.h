/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The line that `systemctl status` shows for profd, with the CPU time that all its processes and
 * BPF programs have taken since the previous line. Loop thread.
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
	uint64_t mono_ns, cpu_ns; /* as of the previous line, or of the start */
};

/* "99 Hz, 2 CPUs, 0.4 % of a core, history 10m (6 MiB)". */
void report_write(struct report *report, char ret_line[REPORT_BYTES]);
