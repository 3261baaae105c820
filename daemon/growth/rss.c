/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Growth of resident memory: programs look at the kernel's counters of a process when it gets
 * pages.
 */
#include "ingest/source.h"

#include "base/clock.h"
#include "bpf/profd.skel.h"
#include "ingest/tallies.h"
#include "kernel/growth_kernel.h"

#include <bpf/libbpf.h>
#include <unistd.h>

enum {
	STEP_BYTES = 256 << 10, /* between samples */
	/* lib/percpu_counter.c: a CPU's part of a counter is smaller than the batch, which is this,
	 * or twice the number of CPUs if that is larger. */
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
	/* The level changes by no more than this when a task moves from a CPU whose part is almost
	 * full to one whose part is almost empty. */
	bpf->skeleton->rodata->resident_noise_pages = 2 * batch;
}

/* Loads the programs of mmap as well: they are in the same part. */
static const char *rss_load(struct bpf *bpf, const struct source_state *state)
{
	if (!state->config.growth.at_all)
		return "";
	growth_kernel_load(bpf, &state->config.growth);
	return growth_kernel_why(bpf, &state->config.growth);
}

/* For growth at any cost: programs run when a process gets pages. If the kernel does not report the
 * pages of files that it maps, each change of a counter is counted instead. */
static int attach_closely(const struct growth_programs *programs, struct source_state *state)
{
	int err = source_attach_one(programs->arrives, "mm_lru_insertion", state);

	if (err)
		return err;
	state->second = bpf_program__attach(programs->mapped_pages);
	if (!state->second)
		state->second = bpf_program__attach(programs->changed);
	return 0;
}

static int rss_attach(struct bpf *bpf, const bool *online, struct source_state *state)
{
	struct growth_programs programs;

	(void)online;
	if (!state->config.growth.at_all) {
		source_refuse_growth(state, NULL);
		return 0;
	}
	/* The programs are attached when they are loaded; this function is called again then. */
	if (state->links[0][0] ||
	    !growth_kernel_programs(bpf, &state->config.growth, &programs, state->why))
		return 0;
	bpf->skeleton->bss->resident_since_ns = clock_ns(CLOCK_BOOTTIME);
	bpf->skeleton->bss->resident_is_watched = 1;
	if (state->config.growth.at_any_price)
		return attach_closely(&programs, state);
	return source_attach_one(programs.taken, "mm_page_alloc_zone_locked", state);
}

static void rss_detach(struct source_state *state)
{
	bpf_link__destroy(state->second);
	state->second = NULL;
	source_detach_one(state);
}

const struct source source_rss = {
	.name = "rss",
	.title = "Memory growth",
	.summary = "growth of resident memory",
	.values = {{"samples", "count"}, {"resident", "bytes"}},
	.history_weight = 4,
	.fix = "Run a kernel that has this tracepoint",
	.configure = rss_configure,
	.load = rss_load,
	.attach = rss_attach,
	.detach = rss_detach,
	.fill = tallies_fill,
};
