/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct upkeep - what is done every 20 seconds whether or not anybody asks: the service manager is
 * told how profd does, and what is held only for those who ask is given back. Loop thread.
 */
#pragma once

#include "base/lane.h"
#include "report.h"

struct parts;

struct upkeep {
	/* Its own. */
	uv_timer_t timer;
	struct job job; /* on the render lane, one at a time */
	bool resting;
	const struct parts *parts;
	struct report report;
};

void upkeep_init(struct upkeep *upkeep, uv_loop_t *loop);
/* `config` and `parts`, which have been started, outlive its stop. */
void upkeep_start(struct upkeep *upkeep, const struct config *config, const struct parts *parts,
                  uint64_t start_mono_ns);
/* Tells the service manager now. */
void upkeep_tell(struct upkeep *upkeep);
/* Once, after upkeep_init(); the loop has to run out. */
void upkeep_stop(struct upkeep *upkeep);
