/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct sideband_clock - when the side-band is read. Its rings wake us only when they fill, so
 * that what happens on the host costs no interrupt a record. Otherwise it is read before each
 * drain, ten times a second while anything happens, and a few milliseconds after a program of the
 * kernel half has woken us (bpf/wake.bpf.h): after an exec, so that the tables of a new program are
 * asked for before it is sampled, and after a walk through code that the walker was not told about.
 * Such wakes rest for a while after one another: a storm is read in batches. Loop thread only.
 */
#pragma once

#include "collect/bpf.h"
#include "collect/sideband.h"

#include <uv.h>

struct ring_buffer;

enum sideband_clock_state {
	CLOCK_WAITS, /* may be woken */
	CLOCK_BURST, /* was woken, and lets what belongs together happen */
	CLOCK_RESTS, /* has read, and may not be woken yet */
};

struct sideband_clock {
	struct bpf *bpf;
	struct sideband *sideband;
	struct ring_buffer *wakes;
	uv_poll_t poll;
	uv_timer_t timer;
	enum sideband_clock_state state;
	uint64_t woken_ns;   /* CLOCK_MONOTONIC */
	unsigned rest_ms;    /* the latest */
	unsigned regular_ms; /* until the next read that nobody asks for */
	uint64_t reads;
	bool started;
};

/* `clock` is zero before; the sideband outlives it. */
int sideband_clock_start(struct sideband_clock *clock, uv_loop_t *loop, struct bpf *bpf,
                         struct sideband *sideband);
/* A drain has read it: where nothing happens that is often enough. */
void sideband_clock_put_off(struct sideband_clock *clock);
/* Started or not; sideband_clock_release() after the loop has run out. */
void sideband_clock_stop(struct sideband_clock *clock);
void sideband_clock_release(struct sideband_clock *clock);
