/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct task_watch - reads the asynchronous tasks of a process again and again while a capture
 * goes on, and makes a slice of what they waited for (capture/task_samples.h). A reading stands for
 * the time up to the next one. Readings come at random intervals, so that they do not fall into
 * step with the program, of TASK_WATCH_MS on average, or longer, so that they take a twenty-fifth
 * of the time of one CPU at most; a reading that is blocked takes time as well. The slice says of
 * how much time there is no reading.
 *
 * Loop thread; the readings are made on a lane, aside (base/aside.h).
 */
#pragma once

#include "base/shares.h"
#include "collect/collector.h"

#include <stdint.h>

struct aside;
struct lane;
struct task_watch;

enum {
	TASK_WATCH_MS = 50,
	TASK_WATCHES = 8, /* at once */
};

/* What watches work with. All of it outlives them. */
struct task_watches {
	uv_loop_t *loop;
	struct collector *collector;
	struct lane *lane; /* of those whose jobs use `aside` */
	struct aside *aside;
	struct shares taken; /* of TASK_WATCHES, by the accounts that ask */
};

struct task_watch_ask {
	uint32_t pid;
	uint64_t account; /* 0: root's */
	uint64_t from_mono_ns, to_mono_ns;
	/* Called with the slice, which is NULL after an error; not after task_watch_cancel(). */
	void (*done)(void *ctx, int err, struct profile *slice);
	void *ctx;
};

/* 0, -ENOMEM, or -EBUSY: there are TASK_WATCHES, or the account has as many as are left. */
int task_watch_start(struct task_watches *watches, const struct task_watch_ask *ask,
                     struct task_watch **ret_watch);
/* Ends the watch: done() is called later, and then the watch frees itself. */
void task_watch_end(struct task_watch *watch);
/* At any time before done(). */
void task_watch_cancel(struct task_watch *watch);
