/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct heartbeat - the rhythm of the daemon: flip the halves, wait until the old half is quiet,
 * have it drained, and answer the requests for the boundary. That happens once a second, and on
 * request. Loop thread only.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct bpf;

/*
 * A request for a boundary in the stream of samples. When done() is called, everything that was
 * sampled before the boundary is in the history, as slices that end exactly there, and nothing that
 * was sampled after it. Requests at about the same time share one boundary, so any number of
 * readers share one capture. A boundary as soon as possible takes some 5 milliseconds, or 15 after
 * another one. With a crowd of clients, or one that asks without a pause, it takes a tenth of a
 * second.
 */
struct cut {
	uint64_t at_mono_ns; /* the boundary wanted; 0: as soon as possible */
	/* The boundary may come later than the next possible one: it is the first of two, and the
	 * second is to be exact. */
	bool patient;
	void (*done)(struct cut *cut, uint64_t boundary_mono_ns);
	struct cut *next; /* for the heartbeat */
};

struct heartbeat {
	/* Set by the owner before heartbeat_init(). */
	struct bpf *bpf;
	void (*eve_of)(void *ctx); /* a flip is about to happen; may be NULL */
	void (*drain)(void *ctx);  /* `old_half` is quiet and has the samples of the span below */
	void *ctx;

	uint32_t old_half;
	uint64_t start_mono_ns, start_wall_ns, end_mono_ns;
	uint64_t next_start_mono_ns, next_start_wall_ns;

	uv_timer_t second, flip, eve, settle;
	struct cut *waiting;  /* for the next flip */
	struct cut *settling; /* for the flip under way */
	struct cut *answered; /* of the last flip: those whose done() is still to be called */
	bool drain_due, flip_under_way;
	/* Number of requests for a boundary as soon as possible that the last flip served. */
	uint32_t shared;
	/* Requests have used up their allowance of flips until this moment. */
	uint64_t paced_ns;
};

void heartbeat_init(struct heartbeat *heartbeat, uv_loop_t *loop);
/* Samples come in from now on. */
void heartbeat_begin(struct heartbeat *heartbeat);
int heartbeat_start(struct heartbeat *heartbeat);
/* The loop must run until its handles have closed. */
void heartbeat_stop(struct heartbeat *heartbeat);

void heartbeat_cut(struct heartbeat *heartbeat, struct cut *cut);
/* Whether the drain under way ends at a requested boundary. */
bool heartbeat_is_cut(const struct heartbeat *heartbeat);
/* Cancels a request; done() will not be called. */
void heartbeat_cancel(struct heartbeat *heartbeat, struct cut *cut);
