/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct upkeep - what is done every 20 seconds whether or not there are requests: reports profd's
 * status to the service manager, and releases what is worth holding only for requests. Loop thread.
 */
#pragma once

#include "base/lane.h"
#include "report.h"

struct parts;

struct upkeep {
	/* Private. */
	uv_timer_t timer;
	struct job job; /* on the render lane, one at a time */
	bool resting;
	const struct parts *parts;
	struct report report;
};

void upkeep_init(struct upkeep *upkeep, uv_loop_t *loop);
/* `config` and `parts`, which has been started, must exist until upkeep_stop(). */
void upkeep_start(struct upkeep *upkeep, const struct config *config, const struct parts *parts,
                  uint64_t start_mono_ns);
/* Reports to the service manager now. */
void upkeep_tell(struct upkeep *upkeep);
/* To be called once, after upkeep_init(); afterwards the loop must run to its end. */
void upkeep_stop(struct upkeep *upkeep);
