/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Growth of resident memory: the tracepoint rss_stat of every process.
 */
#include "collect/source.h"

#include "bpf/profd.skel.h"

#include <unistd.h>

enum {
	STEP_BYTES = 256 << 10, /* between samples */
	/* lib/percpu_counter.c: a CPU's part of a counter is smaller than this, and than twice the
	 * CPUs. */
	LEAST_BATCH = 32,
};

static void rss_configure(struct bpf *bpf, const struct source_config *config,
                          struct source_state *state)
{
	u32 page = (u32)sysconf(_SC_PAGESIZE);
	u32 batch = 2 * bpf->cpu_count;

	state->config = *config;
	state->period = STEP_BYTES > page ? STEP_BYTES : page;
	if (batch < LEAST_BATCH)
		batch = LEAST_BATCH;
	bpf->skeleton->rodata->resident_page_bytes = page;
	bpf->skeleton->rodata->resident_step_pages = (u32)state->period / page;
	/* From one that is almost full to one that is almost empty. */
	bpf->skeleton->rodata->resident_noise_pages = 2 * batch;
}

static int rss_attach(struct bpf *bpf, const bool *online, struct source_state *state)
{
	(void)online;
	return source_attach_one(bpf->skeleton->progs.resident_changed, "rss_stat", state);
}

const struct source source_rss = {
	.name = "rss",
	.summary = "growth of resident memory",
	.values = {{"samples", "count"}, {"resident", "bytes"}},
	.history_share = 4,
	.configure = rss_configure,
	.attach = rss_attach,
	.detach = source_detach_one,
};
