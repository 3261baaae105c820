/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct late_load - loads what sources need of the kernel half besides what the start waits for,
 * on a lane of its own, once samples of CPU time come in: what the verifier takes for it is as long
 * as the start. Loop thread only.
 */
#pragma once

#include "base/lane.h"
#include "collect/source.h"

struct late_load {
	struct job job; /* the lane's until it is done */
	struct lane *lane;
	struct bpf *bpf;
	const struct source_state *states; /* one a source */
	void (*loaded)(void *ctx);         /* or could not be */
	void *ctx;
	bool stopped;
};

/* The rest is set before. -ENOMEM. */
int late_load_open(struct late_load *load, uv_loop_t *loop);
void late_load_start(struct late_load *load); /* once */
/* `loaded` is not called any more. */
void late_load_stop(struct late_load *load);
void late_load_release(struct late_load *load); /* after the loop has run out */
