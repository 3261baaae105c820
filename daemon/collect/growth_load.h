/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct growth_load - loads the programs that watch memory grow, on a lane of its own, once
 * samples of CPU time come in: what the verifier takes for them is as long as the start. Loop
 * thread only.
 */
#pragma once

#include "base/lane.h"
#include "collect/growth_kernel.h"

struct growth_load {
	struct job job; /* the lane's until it is done */
	struct lane *lane;
	struct bpf *bpf;
	struct growth_wanted wanted;
	void (*loaded)(void *ctx); /* or could not be */
	void *ctx;
	bool stopped;
};

/* The rest is set before. -ENOMEM. */
int growth_load_open(struct growth_load *load, uv_loop_t *loop);
/* Once. Nothing is done where no growth is wanted. */
void growth_load_start(struct growth_load *load);
/* `loaded` is not called any more. */
void growth_load_stop(struct growth_load *load);
void growth_load_release(struct growth_load *load); /* after the loop has run out */
