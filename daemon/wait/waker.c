/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Who ends waits, by the tracepoint sched_waking: of the waits that the source offcpu samples.
 */
#include "ingest/source.h"

#include "bpf/profd.skel.h"
#include "ingest/tallies.h"

#include <bpf/libbpf.h>

static void waker_configure(struct bpf *bpf, const struct source_config *config,
                            struct source_state *state)
{
	(void)bpf;
	state->config = *config;
	state->period = 1;
}

/* The source offcpu has the part loaded. */
static int waker_attach(struct bpf *bpf, const bool *online, struct source_state *state)
{
	const struct profd_bpf *part = source_waits_part(bpf, state);

	(void)online;
	return part ? source_attach_one(part->progs.wait_waking, "sched_waking", state) : 0;
}

const struct source source_waker = {
	.name = "waker",
	.title = "Wakers",
	.summary = "time that threads slept, by who ended it",
	.values = {{"wakings", "count"}, {"slept", "nanoseconds"}},
	.history_weight = 1,
	.fix = "Run a kernel that has this tracepoint",
	.configure = waker_configure,
	.attach = waker_attach,
	.detach = source_detach_one,
	.fill = tallies_fill,
};
