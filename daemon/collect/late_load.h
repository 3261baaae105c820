/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct late_load - loads those parts of the kernel half that sources need and the start does not
 * wait for. The verifier takes as long for them as the whole start takes. So they are loaded on a
 * lane of their own, once samples of CPU time come in. Loop thread only.
 */
#pragma once

#include "base/lane.h"
#include "ingest/source.h"

struct late_load {
	struct job job; /* owned by the lane until it is done */
	struct lane *lane;
	struct bpf *bpf;
	const struct source_state *states; /* one per source */
	void (*loaded)(void *ctx);         /* called when all are loaded or have failed */
	void *ctx;
	bool stopped;
};

/* The other members are set before. 0 or -ENOMEM. */
int late_load_open(struct late_load *load, uv_loop_t *loop);
void late_load_start(struct late_load *load); /* once */
/* After this `loaded` is not called any more. */
void late_load_stop(struct late_load *load);
void late_load_release(struct late_load *load); /* after the loop has ended */
