/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Page faults, by two software events of perf on each CPU: of those that the kernel serves from
 * memory (minor), and of those for which it reads a disk (major).
 */
#include "ingest/source.h"

#include "bpf/profd.skel.h"
#include "ingest/tallies.h"
#include "kernel/perf.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A program is called at each so-many-th fault of a CPU. perf can also keep up a rate, but its
 * numbers are wrong where faults come in bursts. */
static const struct {
	uint64_t config, period;
} events[] = {{PERF_COUNT_SW_PAGE_FAULTS_MIN, 61}, {PERF_COUNT_SW_PAGE_FAULTS_MAJ, 1}};
enum { EVENTS = sizeof(events) / sizeof(events[0]) };

static void fault_configure(struct bpf *bpf, const struct source_config *config,
                            struct source_state *state)
{
	(void)bpf;
	state->config = *config;
	state->period = 1;
}

static const char *fault_load(struct bpf *bpf, const struct source_state *state)
{
	return source_load_part(bpf, BPF_PART_FAULTS, state->config.faults);
}

/* `is_major` is the index of the event. */
static int attach_event(struct bpf_program *program, struct source_state *state, u32 cpu,
                        u32 is_major)
{
	const struct bpf_perf_event_opts options = {
		.sz = sizeof(options),
		.bpf_cookie = is_major,
	};
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = events[is_major].config,
		.sample_period = events[is_major].period,
		.disabled = 1,
	};
	int fd = perf_open_cpu(&attr, cpu), err;

	if (fd < 0)
		return fd;
	state->links[cpu][is_major] = bpf_program__attach_perf_event_opts(program, fd, &options);
	if (state->links[cpu][is_major])
		return 0;
	err = -errno;
	close(fd);
	return err;
}

static void detach_cpu(struct source_state *state, u32 cpu)
{
	state->attached -= state->links[cpu][0] != NULL;
	for (u32 event = 0; event < EVENTS; event++) {
		bpf_link__destroy(state->links[cpu][event]);
		state->links[cpu][event] = NULL;
	}
}

/* Attaches both events of a CPU, or none. */
static int attach_cpu(struct bpf *bpf, struct source_state *state, u32 cpu)
{
	struct bpf_program *program = bpf_part(bpf, BPF_PART_FAULTS)->progs.fault_sample;
	int err = 0;

	for (u32 event = 0; event < EVENTS && !err; event++)
		err = attach_event(program, state, cpu, event);
	state->attached += state->links[cpu][0] != NULL;
	if (err)
		detach_cpu(state, cpu);
	return err;
}

static int fault_attach(struct bpf *bpf, const bool *online, struct source_state *state)
{
	const struct profd_bpf *part = source_part(
		bpf, BPF_PART_FAULTS, state->config.faults ? NULL : "faults = no", state);
	int err;

	if (!part)
		return 0;
	err = source_attach_cpus(bpf, online, state, attach_cpu, detach_cpu);
	state->on = state->attached > 0;
	if (state->on)
		return 0;
	snprintf(state->why, sizeof(state->why), "cannot open an event of page faults: %s",
	         strerror(-err));
	return err;
}

static void fault_detach(struct source_state *state)
{
	for (u32 cpu = 0; cpu < MAX_CPUS; cpu++)
		detach_cpu(state, cpu);
	state->on = false;
}

const struct source source_fault = {
	.name = "fault",
	.title = "Page faults",
	.summary = "page faults",
	.values = {{"samples", "count"}, {"faults", "count"}},
	.history_weight = 1,
	.fix = "Allow perf events: kernel.perf_event_paranoid",
	.configure = fault_configure,
	.load = fault_load,
	.attach = fault_attach,
	.detach = fault_detach,
	.fill = tallies_fill,
};
