/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One job loads the programs of all sources. The profiler works without those that cannot be
 * loaded.
 */
#include "collect/late_load.h"

#include "base/log.h"

#include <errno.h>

/* Runs on the lane. */
static void run(struct job *job)
{
	struct late_load *load = (struct late_load *)job;

	for (int kind = 0; kind < KIND_COUNT; kind++) {
		const char *why = sources[kind]->load
		                          ? sources[kind]->load(load->bpf, &load->states[kind])
		                          : "";

		if (*why)
			log_warning("%s; profd continues without them", why);
	}
}

static void done(struct job *job)
{
	struct late_load *load = (struct late_load *)job;

	if (!load->stopped)
		load->loaded(load->ctx);
}

int late_load_open(struct late_load *load, uv_loop_t *loop)
{
	load->lane = lane_new(loop, WORK_load, 1);
	return load->lane ? 0 : -ENOMEM;
}

void late_load_start(struct late_load *load)
{
	load->job = (struct job){.run = run, .done = done};
	if (lane_submit(load->lane, &load->job))
		log_warning("cannot load the remaining BPF programs: no room for a job");
}

void late_load_stop(struct late_load *load)
{
	load->stopped = true;
	if (load->lane)
		lane_stop(load->lane);
}

void late_load_release(struct late_load *load)
{
	lane_free(load->lane);
	load->lane = NULL;
}
