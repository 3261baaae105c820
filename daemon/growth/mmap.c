/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Growth of address space, by the tracepoint vm_unmapped_area, for every process.
 */
#include "ingest/source.h"

#include "bpf/profd.skel.h"
#include "ingest/tallies.h"
#include "kernel/growth_kernel.h"

enum { STEP_BYTES = 256 << 10 /* between samples */ };

static void mmap_configure(struct bpf *bpf, const struct source_config *config,
                           struct source_state *state)
{
	state->config = *config;
	state->period = STEP_BYTES;
	bpf->skeleton->rodata->mapped_step = STEP_BYTES;
}

static int mmap_attach(struct bpf *bpf, const bool *online, struct source_state *state)
{
	struct growth_programs programs;

	(void)online;
	if (!state->config.growth.at_any_price) {
		source_refuse_growth(state, state->config.growth.at_all
		                                    ? "recording it makes mmap() 3 % slower"
		                                    : NULL);
		return 0;
	}
	/* The source rss loads these programs. This function is called again when they are
	 * loaded. */
	if (!growth_kernel_programs(bpf, &state->config.growth, &programs, state->why))
		return 0;
	return source_attach_one(programs.mapped, "vm_unmapped_area", state);
}

const struct source source_mmap = {
	.name = "mmap",
	.title = "Address space",
	.summary = "growth of address space by mmap",
	.values = {{"samples", "count"}, {"mapped", "bytes"}},
	.history_weight = 3,
	.fix = "Run a kernel that has this tracepoint",
	.configure = mmap_configure,
	.attach = mmap_attach,
	.detach = source_detach_one,
	.fill = tallies_fill,
};
