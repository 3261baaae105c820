/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Growth of address space: the tracepoint vm_unmapped_area of every process.
 */
#include "collect/source.h"

#include "bpf/profd.skel.h"

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
	(void)online;
	return source_attach_one(bpf->skeleton->progs.address_space_grows, "vm_unmapped_area",
	                         state);
}

const struct source source_mmap = {
	.name = "mmap",
	.summary = "growth of address space by mmap",
	.values = {{"samples", "count"}, {"mapped", "bytes"}},
	.history_share = 3,
	.configure = mmap_configure,
	.attach = mmap_attach,
	.detach = source_detach_one,
};
