/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct heartbeat - the rhythm of the daemon: flip the halves, wait until the old one is quiet,
 * have it drained, answer whoever asked for the boundary. Once a second, and when asked. Loop
 * thread only.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct bpf;

/*
 * A boundary in the stream of samples. Everything sampled before it is in the history when done()
 * is called, as slices that end exactly there, and nothing sampled after it is. Boundaries asked
 * for at about the same time are one, so any number of readers share one capture. One as soon as
 * can be takes some 5 milliseconds, or 15 after another; in a crowd, and for who never stops
 * asking, a tenth of a second.
 */
struct cut {
	uint64_t at_mono_ns; /* the boundary wanted; 0 for as soon as can be */
	bool patient; /* in no hurry: one more boundary, some time after it, is to be exact */
	void (*done)(struct cut *cut, uint64_t boundary_mono_ns);
	struct cut *next; /* the heartbeat's */
};

struct heartbeat {
	/* The owner's: set before heartbeat_init(). */
	struct bpf *bpf;
	void (*drain)(void *ctx); /* `old_half` is quiet and has the samples of the span below */
	void *ctx;

	uint32_t old_half;
	uint64_t start_mono_ns, start_wall_ns, end_mono_ns;
	uint64_t next_start_mono_ns, next_start_wall_ns;

	uv_timer_t second, flip, settle;
	struct cut *waiting;  /* for the next flip */
	struct cut *settling; /* for the flip under way */
	struct cut *answered; /* of the flip that was; those that are still to be told */
	bool drain_due, flip_under_way;
	uint32_t shared;   /* by how many in a hurry the last flip was */
	uint64_t paced_ns; /* those that were given a flip have used up their share until then */
};

void heartbeat_init(struct heartbeat *heartbeat, uv_loop_t *loop);
/* Samples come in from now on. */
void heartbeat_begin(struct heartbeat *heartbeat);
int heartbeat_start(struct heartbeat *heartbeat);
/* The loop must run until its handles have closed. */
void heartbeat_stop(struct heartbeat *heartbeat);

void heartbeat_cut(struct heartbeat *heartbeat, struct cut *cut);
/* Whether the drain under way ends where somebody asked for it. */
bool heartbeat_is_cut(const struct heartbeat *heartbeat);
/* Forgets a cut that is no longer wanted; done() will not be called. */
void heartbeat_cancel(struct heartbeat *heartbeat, struct cut *cut);
