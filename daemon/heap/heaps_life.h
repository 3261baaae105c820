/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The life of struct heaps, for the collector that owns it.
 */
#pragma once

#include "ingest/drain.h"
#include "kernel/bpf.h"

#include <uv.h>

struct heaps;

struct heaps_config {
	uv_loop_t *loop;
	struct bpf *bpf; /* loaded */
	struct drain_tables tables;
	/* Brings the process table, and what is known of interpreted code, up to date. */
	void (*read_tables)(void *ctx);
	/* From now on programs report the durations of GPU kernels. */
	void (*hears_gpus)(void *ctx);
	void *ctx;
};

/* Call heaps_free() even after a failure. */
int heaps_new(const struct heaps_config *config, struct heaps **ret_heaps);
/* Call once the collector is sure to go on. */
void heaps_start_clock(struct heaps *heaps);
/* After this the loop must run until the handles have closed. */
void heaps_stop(struct heaps *heaps);
void heaps_free(struct heaps *heaps); /* takes NULL */
