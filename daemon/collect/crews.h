/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct crews - what waits for others on behalf of the process table, so that the loop does not:
 * files that processes map are opened, and /proc/PID/maps is read, by threads that may hang
 * (base/crew.h). Loop thread only.
 */
#pragma once

#include "object/opener.h"
#include "proc/maps_reader.h"

struct crews {
	struct procs *procs;
	struct opener *opener;
	struct maps_reader *maps_reader;
	void (*told)(void *ctx); /* the table knows more */
	void *ctx;
};

/* The rest of it is set. Negative errno; crews_stop() and crews_free() also after that. */
int crews_start(struct crews *crews, uv_loop_t *loop, struct store *store);
void crews_stop(struct crews *crews);
void crews_free(struct crews *crews);
