/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A job that hangs its lane is visible only here: the lane's other jobs wait, and the loop
 * continues.
 */
#include "api/metrics_lanes.h"

#include "base/clock.h"
#include "base/lane.h"

static void add_lane(const char *name, uint64_t running_ns, void *ctx)
{
	buf_printf(ctx, "profd_lane_job_seconds{lane=\"%s\"} %.3f\n", name,
	           (double)running_ns / NSEC_PER_SEC);
}

void metrics_add_lanes(struct buf *body)
{
	buf_printf(body,
	           "# HELP profd_lane_job_seconds Time that the current job of a lane has run.\n"
	           "# TYPE profd_lane_job_seconds gauge\n");
	lanes_each(add_lane, body);
}
