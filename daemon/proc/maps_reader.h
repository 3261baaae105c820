/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct maps_reader - reads /proc/PID/maps on threads that may hang (base/crew.h). The kernel
 * makes whoever reads that file wait for the process's own changes of its mappings, which a file
 * system of its user may hold up without end; and of a process that maps much it is long.
 *
 * Loop thread only.
 */
#pragma once

#include "base/crew.h"
#include "proc/scan.h"

struct maps_reader;

struct maps_reading {
	uint32_t pid;
	uint64_t tag; /* of who asked */
	int err; /* 0, -ESRCH: the process is gone; -ETIMEDOUT, -ECANCELED as crew.h has them */
	struct scan_text text;
	uint64_t took_ns;
};

struct maps_reader_config {
	uv_loop_t *loop;
	void (*read)(const struct maps_reading *reading, void *ctx);
	void (*delivered)(void *ctx); /* after that was called once or several times */
	void *ctx;
};

int maps_reader_new(const struct maps_reader_config *config, struct maps_reader **ret_reader);
void maps_reader_stop(struct maps_reader *reader);
/* After maps_reader_stop(), once the loop has closed its handles. */
void maps_reader_free(struct maps_reader *reader);
DEFINE_CLEANUP(struct maps_reader *, maps_reader_free)

/* Later read() is called with what was read. -EAGAIN: too much waits, or too much of that user. */
int maps_reader_ask(struct maps_reader *reader, uint32_t pid, uint64_t tag);
/* Waits for what was asked within the last `patience_ns`, no longer than that. */
void maps_reader_settle(struct maps_reader *reader, uint64_t patience_ns);
/* How many were asked about of which read() was not called. */
size_t maps_reader_waiting(const struct maps_reader *reader);
void maps_reader_get_stats(struct maps_reader *reader, struct crew_stats *ret_stats);
