/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Disk I/O, by the tracepoints block_bio_queue, block_bio_complete and block_rq_complete.
 */
#include "ingest/source.h"

#include "bpf/profd.skel.h"
#include "ingest/tallies.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static void block_configure(struct bpf *bpf, const struct source_config *config,
                            struct source_state *state)
{
	(void)bpf;
	state->config = *config;
	state->period = 1;
}

/* Attaches a program that is not attached yet. */
static bool attach(struct bpf_link **link, struct bpf_program *program)
{
	if (!*link)
		*link = bpf_program__attach(program);
	return *link;
}

/* The source offcpu has the part loaded. Requests are noted only while their completion is seen. */
static int block_attach(struct bpf *bpf, const bool *online, struct source_state *state)
{
	const struct profd_bpf *part = source_waits_part(bpf, state);

	(void)online;
	if (!part)
		return 0;
	if (attach(&state->links[0][1], part->progs.block_completed) &&
	    attach(&state->links[0][2], part->progs.block_request_completed))
		return source_attach_one(part->progs.block_queued, "block_bio_queue", state);
	snprintf(state->why, sizeof(state->why), "cannot see disk requests complete: %s",
	         strerror(errno));
	return -errno;
}

static void block_detach(struct source_state *state)
{
	source_detach_one(state);
	for (size_t i = 1; i <= 2; i++) {
		bpf_link__destroy(state->links[0][i]);
		state->links[0][i] = NULL;
	}
}

const struct source source_block = {
	.name = "block",
	.title = "Disk I/O",
	.summary = "requests to disks, and how long they took",
	.values = {{"requests", "count"}, {"transferred", "bytes"}, {"latency", "nanoseconds"}},
	.history_weight = 1,
	.fix = "Run a kernel that has these tracepoints",
	.configure = block_configure,
	.attach = block_attach,
	.detach = block_detach,
	.fill = tallies_fill,
};
