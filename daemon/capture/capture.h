/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct capture - takes the recorded samples of a time range, for anybody who asks: it waits for
 * the boundaries of the range and reads the slices in between. Its owner then has them rendered
 * (capture/render.h). Embedded in its owner, which sets the first members and leaves the others
 * zero. Loop thread only.
 */
#pragma once

#include "capture/comments.h"
#include "capture/moment.h"
#include "capture/render.h"
#include "capture/report_more.h"
#include "capture/task_watch.h"
#include "collect/collector.h"
#include "past/past.h"
#include "profile/history.h"

enum range_kind {
	RANGE_NEXT,    /* from now on */
	RANGE_LAST,    /* until now */
	RANGE_SINCE,   /* until now, from a boundary that the owner holds */
	RANGE_BETWEEN, /* of two given times */
};

struct capture_ask {
	enum profile_kind kind; /* KIND_offcpu for a view */
	enum range_kind range;
	uint64_t length_ns;                /* RANGE_NEXT, RANGE_LAST */
	uint64_t since_mono_ns;            /* RANGE_SINCE */
	uint64_t from_unix_ns, to_unix_ns; /* RANGE_BETWEEN */
	bool all;                          /* everything that is kept */
	bool more;                         /* what a report needs, too */
	struct selection selection;        /* its names must live as long as the capture */
};

/* Where samples come from. */
struct capture_from {
	struct collector *collector;
	struct history *history; /* by enum profile_kind */
	const struct procs *procs;
	struct past *past;            /* for what is older than the history; NULL: there is none */
	struct task_watches *watches; /* for selection.tasks */
};

struct capture {
	struct capture_from from;
	struct capture_ask ask;
	uint64_t account; /* that asks, 0: root's */
	/* 0, -ENOMEM, -ENOBUFS as of profile/held.h, those of past_ask() or another negative errno;
	 * of selection.tasks -EBUSY as of task_watch_start(). Called once, perhaps before
	 * capture_start() returns; not after capture_cancel(). */
	void (*done)(struct capture *capture, int err);

	/* The result. */
	uint64_t from_mono_ns, to_mono_ns; /* before the boot they are below 0, and wrap */
	bool ends_now;
	struct slices slices;
	struct report_more more;
	size_t second_count;  /* the last of these are of the second kind of VIEW_wall, and of tasks
	                       */
	struct past_ask past; /* what was read there */
	int past_err;         /* why nothing was */
	struct capture_facts facts;

	/* Private. */
	struct cut cut;
	struct moment *moment; /* NULL: nothing of it is needed */
	bool begun;            /* `from_mono_ns` is known and held */
	struct task_watch *watch;
	struct profile *tasks; /* the slice of that */
};

void capture_start(struct capture *capture);
/* While done() has not been called. */
void capture_cancel(struct capture *capture);
/* Sets what the capture knows of the plan; its pointers are valid until capture_release(). */
void capture_plan(const struct capture *capture, struct render_plan *plan);
/* After done() or capture_cancel(). */
void capture_release(struct capture *capture);
