/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct crews - the blocking operations of the process table. Threads that may hang (base/crew.h)
 * open the files that processes map and read /proc/PID/maps, so that the loop does not block. Loop
 * thread only.
 */
#pragma once

#include "object/opener.h"
#include "proc/maps_reader.h"

struct crews {
	struct procs *procs;
	struct opener *opener;
	struct maps_reader *maps_reader;
	void (*told)(void *ctx); /* called when the process table has new data */
	void *ctx;
};

/* The other members are set before. 0 or a negative errno; call crews_stop() and crews_free() also
 * after an error. */
int crews_start(struct crews *crews, uv_loop_t *loop, struct store *store);
void crews_stop(struct crews *crews);
void crews_free(struct crews *crews);
