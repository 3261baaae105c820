/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The life of struct heaps, for the collector that owns it.
 */
#pragma once

#include "collect/bpf.h"
#include "collect/drain.h"
#include "collect/heaps.h"

#include <uv.h>

struct heaps_config {
	uv_loop_t *loop;
	struct bpf *bpf; /* loaded */
	struct drain_tables tables;
	/* Brings the process table, and what is known of Python's code, up to now. */
	void (*read_tables)(void *ctx);
	/* Programs tell of the durations of GPU kernels from now on. */
	void (*hears_gpus)(void *ctx);
	void *ctx;
};

/* heaps_free() even after a failure. */
int heaps_new(const struct heaps_config *config, struct heaps **ret_heaps);
/* Once the collector is sure to live. */
void heaps_start_clock(struct heaps *heaps);
/* The loop must run until its handles have closed. */
void heaps_stop(struct heaps *heaps);
void heaps_free(struct heaps *heaps); /* takes NULL */
