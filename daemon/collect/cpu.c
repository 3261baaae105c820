/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * CPU time: a sampling timer on every online CPU. Hardware cycles where there is a PMU, because
 * their interrupt arrives even where interrupts are off; else the clock.
 */
#include "collect/cpu.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "bpf/profd.skel.h"
#include "collect/perf.h"
#include "collect/source.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *event_name(bool cycles)
{
	return cycles ? "cycles" : "cpu-clock";
}

static int open_timer(bool cycles, u32 sample_hz, u32 cpu)
{
	struct perf_event_attr attr = {
		.type = cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.config = cycles ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = sample_hz,
		.disabled = 1, /* until its program is attached, or a tick would go uncounted */
	};

	return perf_open_cpu(&attr, cpu);
}

static bool have_cycles(u32 sample_hz)
{
	int fd = open_timer(true, sample_hz, 0);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

int cpu_timer_try(u32 sample_hz, u32 cpu, const char **ret_event)
{
	bool cycles = have_cycles(sample_hz);
	_cleanup_close_ int fd = open_timer(cycles, sample_hz, cpu);

	*ret_event = event_name(cycles);
	return fd < 0 ? fd : 0;
}

static void cpu_configure(struct bpf *bpf, const struct source_config *config,
                          struct source_state *state)
{
	bool cycles = have_cycles(config->sample_hz);

	state->config = *config;
	state->event = event_name(cycles);
	state->period = NSEC_PER_SEC / config->sample_hz;
	bpf->skeleton->rodata->period_ns = state->period;
	bpf->skeleton->rodata->timer_is_clock = !cycles;
}

static int attach_cpu(struct bpf *bpf, struct source_state *state, u32 cpu)
{
	int fd = open_timer(strcmp(state->event, "cycles") == 0, state->config.sample_hz, cpu);
	struct bpf_link *link;

	if (fd < 0)
		return fd;
	link = bpf_program__attach_perf_event(bpf->skeleton->progs.cpu_sample, fd);
	if (!link) {
		int err = -errno;

		close(fd);
		return err;
	}
	state->links[cpu] = link; /* owns fd */
	state->attached++;
	return 0;
}

static void detach_cpu(struct source_state *state, u32 cpu)
{
	if (!state->links[cpu])
		return;
	bpf_link__destroy(state->links[cpu]);
	state->links[cpu] = NULL;
	state->attached--;
}

static int cpu_attach(struct bpf *bpf, const bool *online, struct source_state *state)
{
	int first_err = 0;

	for (u32 cpu = 0; cpu < MAX_CPUS; cpu++) {
		int err = 0;

		if (!online[cpu])
			detach_cpu(state, cpu);
		else if (!state->links[cpu])
			err = attach_cpu(bpf, state, cpu);
		/* A CPU that went away meanwhile has no event to offer. */
		if (err && err != -ENODEV && !first_err)
			first_err = err;
	}
	state->on = state->attached > 0;
	if (!state->on)
		snprintf(state->why, sizeof(state->why), "cannot open a sampling timer: %s",
		         strerror(-first_err));
	return state->on ? 0 : first_err;
}

static void cpu_detach(struct source_state *state)
{
	for (u32 cpu = 0; cpu < MAX_CPUS; cpu++)
		detach_cpu(state, cpu);
}

const struct source source_cpu = {
	.name = "cpu",
	.summary = "CPU time",
	.values = {{"samples", "count"}, {"cpu", "nanoseconds"}},
	.history_share = 17,
	.configure = cpu_configure,
	.attach = cpu_attach,
	.detach = cpu_detach,
};
