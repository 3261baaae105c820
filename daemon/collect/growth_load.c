/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One job.
 */
#include "collect/growth_load.h"

#include "base/log.h"

#include <errno.h>

/* On the lane. */
static void run(struct job *job)
{
	struct growth_load *load = (struct growth_load *)job;

	growth_kernel_load(load->bpf, &load->wanted);
}

static void done(struct job *job)
{
	struct growth_load *load = (struct growth_load *)job;
	const char *why = growth_kernel_why(load->bpf, &load->wanted);

	if (load->stopped)
		return;
	if (*why)
		log_warning("%s, going on", why);
	load->loaded(load->ctx);
}

int growth_load_open(struct growth_load *load, uv_loop_t *loop)
{
	load->lane = lane_new(loop, 1);
	return load->lane ? 0 : -ENOMEM;
}

void growth_load_start(struct growth_load *load)
{
	if (!load->wanted.at_all)
		return;
	load->job = (struct job){.run = run, .done = done};
	if (lane_submit(load->lane, &load->job))
		log_warning("the growth of memory is not recorded: no room for a job");
}

void growth_load_stop(struct growth_load *load)
{
	load->stopped = true;
	if (load->lane)
		lane_stop(load->lane);
}

void growth_load_release(struct growth_load *load)
{
	lane_free(load->lane);
	load->lane = NULL;
}
