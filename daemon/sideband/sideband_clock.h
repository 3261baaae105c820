/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct sideband_clock - decides when the side-band is read. Its rings wake the loop only when
 * they fill up, so that events on the host do not cost an interrupt per record. Otherwise the
 * side-band is read before each drain, ten times a second while anything happens, and a few
 * milliseconds after a program of the kernel half has woken the loop (bpf/wake.bpf.h). That happens
 * after an exec, so that the tables of a new program are requested before the program is sampled,
 * and after a walk through code for which the walker had no data. After each such wake there is a
 * rest, so that a storm is read in batches. Loop thread only.
 */
#pragma once

#include "kernel/bpf.h"
#include "sideband/sideband.h"

#include <uv.h>

struct ring_buffer;

enum sideband_clock_state {
	CLOCK_WAITS, /* may be woken */
	CLOCK_BURST, /* was woken; waits for what follows the event */
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
	unsigned rest_ms;    /* the latest rest */
	unsigned regular_ms; /* until the next regular read */
	uint64_t reads;
	bool started;
};

/* `clock` is zero before; the sideband outlives it. */
int sideband_clock_start(struct sideband_clock *clock, uv_loop_t *loop, struct bpf *bpf,
                         struct sideband *sideband);
/* Call after a drain, which has read the side-band. While nothing happens, drains read it often
 * enough. */
void sideband_clock_put_off(struct sideband_clock *clock);
/* Call whether or not it was started; call sideband_clock_release() after the loop has ended. */
void sideband_clock_stop(struct sideband_clock *clock);
void sideband_clock_release(struct sideband_clock *clock);
