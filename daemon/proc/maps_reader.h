/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct maps_reader - reads /proc/PID/maps on threads that may hang (base/crew.h). The kernel
 * makes a reader of that file wait for changes that the process makes to its mappings, and a file
 * system of the process's user may block such a change without end. The file of a process with many
 * mappings is also long.
 *
 * Loop thread only.
 */
#pragma once

#include "base/crew.h"
#include "proc/scan.h"

struct maps_reader;

struct maps_reading {
	uint32_t pid;
	uint32_t owner; /* its user, as in base/crew.h */
	uint64_t tag;   /* as passed to maps_reader_ask() */
	/* 0; that of scan_read(); -ENOBUFS: too much was read that is not taken yet, in total or of
	 * that user; -ETIMEDOUT, -ECANCELED as in base/crew.h. */
	int err;
	struct scan_text text;
	uint64_t took_ns;
};

struct maps_reader_config {
	uv_loop_t *loop;
	void (*read)(const struct maps_reading *reading, void *ctx);
	void (*delivered)(void *ctx); /* after one or several calls of read() */
	void *ctx;
};

int maps_reader_new(const struct maps_reader_config *config, struct maps_reader **ret_reader);
void maps_reader_stop(struct maps_reader *reader);
/* To be called after maps_reader_stop(), once the loop has closed the reader's handles. */
void maps_reader_free(struct maps_reader *reader);
DEFINE_CLEANUP(struct maps_reader *, maps_reader_free)

/* Requests a reading; read() is called with the result later. -EAGAIN: too many requests wait, in
 * total or of that user. */
int maps_reader_ask(struct maps_reader *reader, uint32_t pid, uint64_t tag);
/* Waits at most `patience_ns` for the requests of the last `patience_ns`. */
void maps_reader_settle(struct maps_reader *reader, uint64_t patience_ns);
/* The number of requests for which read() was not called yet. */
size_t maps_reader_waiting(const struct maps_reader *reader);
void maps_reader_get_stats(struct maps_reader *reader, struct crew_stats *ret_stats);
