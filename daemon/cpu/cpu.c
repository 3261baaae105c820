/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * CPU time: sampling timers on every online CPU. They count hardware cycles if there is a PMU,
 * because its interrupt arrives even while interrupts are off. Otherwise they run by the clock.
 */
#include "cpu/cpu.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "bpf/profd.skel.h"
#include "cpu/tick_lag.h"
#include "ingest/source.h"
#include "ingest/tallies.h"
#include "kernel/perf.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <unistd.h>

/*
 * How far the rates of a CPU's clock timers may differ, in millionths of a timer's share of the
 * sampling rate. A single timer at a fixed interval finds a program that runs by a timer of its
 * own, or by the kernel's, at the same points of its cycle again and again. Several timers with
 * random intervals each find it at other points. With fixed intervals there would be programs with
 * which most timers are in step.
 */
enum { PACES = 1000 * 1000, PACE_SPREAD = 160 * 1000 };

static const char *event_name(bool cycles)
{
	return cycles ? "cycles" : "cpu-clock";
}

/* Draws the period of each of a CPU's timers, from one tick to the next. All timers together tick
 * at the sampling rate. */
static void draw_periods(u32 sample_hz, u64 ret_periods[CPU_TIMERS])
{
	u32 drawn[CPU_TIMERS];
	u64 mean = 0;

	/* A kernel has no random numbers until some seconds after its start. Without them all
	 * timers have the same period. */
	if (getrandom(drawn, sizeof(drawn), GRND_NONBLOCK) != (ssize_t)sizeof(drawn))
		memset(drawn, 0, sizeof(drawn));
	for (u32 timer = 0; timer < CPU_TIMERS; timer++) {
		drawn[timer] %= 2 * PACE_SPREAD;
		mean += drawn[timer];
	}
	mean /= CPU_TIMERS;
	for (u32 timer = 0; timer < CPU_TIMERS; timer++)
		ret_periods[timer] = NSEC_PER_SEC * CPU_TIMERS * PACES / sample_hz /
		                     (PACES + drawn[timer] - mean);
}

/* Events are opened disabled until their program is attached, because earlier ticks would not be
 * counted. */
static int open_cycles(u32 sample_hz, u32 cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.freq = 1,
		.sample_freq = sample_hz,
		.disabled = 1,
	};

	return perf_open_cpu(&attr, cpu);
}

static int open_clock(u32 cpu, u64 period_ns)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period_ns,
		.disabled = 1,
	};

	return perf_open_cpu(&attr, cpu);
}

static bool have_cycles(u32 sample_hz)
{
	_cleanup_close_ int fd = open_cycles(sample_hz, 0);

	return fd >= 0;
}

int cpu_timer_try(u32 sample_hz, u32 cpu, const char **ret_event)
{
	bool cycles = have_cycles(sample_hz);
	_cleanup_close_ int fd =
		cycles ? open_cycles(sample_hz, cpu) : open_clock(cpu, NSEC_PER_SEC / sample_hz);

	*ret_event = event_name(cycles);
	return fd < 0 ? fd : 0;
}

static bool goes_by_cycles(const struct source_state *state)
{
	return !strcmp(state->event, event_name(true));
}

static void cpu_configure(struct bpf *bpf, const struct source_config *config,
                          struct source_state *state)
{
	state->config = *config;
	state->event = event_name(have_cycles(config->sample_hz));
	state->period = NSEC_PER_SEC / config->sample_hz;
	bpf->skeleton->rodata->period_ns = state->period;
	if (!goes_by_cycles(state))
		bpf->skeleton->rodata->lag_ns = tick_lag_measure_ns();
}

static const char *cpu_load(struct bpf *bpf, const struct source_state *state)
{
	enum bpf_part worst = BPF_PART_RUN_TIMES;

	bpf_part_load(bpf, BPF_PART_RUN_TIMES, NULL);
	if (!goes_by_cycles(state) && bpf_part_load(bpf, BPF_PART_SWITCHES, NULL))
		worst = BPF_PART_SWITCHES;
	return bpf_part_why(bpf, worst);
}

/* A timer first ticks when its period has passed, which is after the first drain. So until
 * cpu_begun() the first timer of each CPU has the period of all its timers together. From its
 * second tick on, the timer's ticks count only if they are due by its own period
 * (bpf/cpu.bpf.c). */
static int open_first(struct source_state *state, u32 cpu, u64 period_ns)
{
	int fd = open_clock(cpu, period_ns / CPU_TIMERS);

	if (fd < 0)
		return fd;
	state->first[cpu].fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (state->first[cpu].fd < 0) {
		state->first[cpu].fd = 0;
		close(fd);
		return open_clock(cpu, period_ns);
	}
	state->first[cpu].period_ns = period_ns;
	return fd;
}

static void end_first(struct source_state *state, u32 cpu)
{
	if (!state->first[cpu].fd)
		return;
	if (ioctl(state->first[cpu].fd, PERF_EVENT_IOC_PERIOD, &state->first[cpu].period_ns))
		log_warning(
			"cannot reset the sampling period of CPU %u, which is now too short: %s",
			cpu, strerror(errno));
	close(state->first[cpu].fd);
	state->first[cpu].fd = 0;
}

void cpu_begun(struct source_state *state)
{
	state->have_begun = true;
	for (u32 cpu = 0; cpu < MAX_CPUS; cpu++)
		end_first(state, cpu);
}

/* `period_ns` is 0 for a timer that counts cycles. */
static int open_timer(struct source_state *state, u32 cpu, u32 timer, u64 period_ns)
{
	if (!period_ns)
		return open_cycles(state->config.sample_hz, cpu);
	return timer || state->have_begun ? open_clock(cpu, period_ns)
	                                  : open_first(state, cpu, period_ns);
}

static int attach_timer(struct bpf *bpf, struct source_state *state, u32 cpu, u32 timer,
                        u64 period_ns)
{
	const struct bpf_perf_event_opts options = {
		.sz = sizeof(options),
		.bpf_cookie = period_ns * CPU_TIMERS + timer,
	};
	int fd = open_timer(state, cpu, timer, period_ns);
	struct bpf_link *link;

	if (fd < 0)
		return fd;
	link = bpf_program__attach_perf_event_opts(bpf->skeleton->progs.cpu_sample, fd, &options);
	if (!link) {
		int err = -errno;

		close(fd);
		return err;
	}
	state->links[cpu][timer] = link; /* owns fd */
	return 0;
}

static void detach_cpu(struct source_state *state, u32 cpu)
{
	end_first(state, cpu);
	if (state->links[cpu][0])
		state->attached--;
	for (u32 timer = 0; timer < CPU_TIMERS; timer++) {
		bpf_link__destroy(state->links[cpu][timer]);
		state->links[cpu][timer] = NULL;
	}
}

/* Attaches all timers of a CPU, or none. */
static int attach_cpu(struct bpf *bpf, struct source_state *state, u32 cpu)
{
	u32 timers = goes_by_cycles(state) ? 1 : CPU_TIMERS;
	u64 periods[CPU_TIMERS] = {0};
	int err = 0;

	if (!goes_by_cycles(state))
		draw_periods(state->config.sample_hz, periods);
	for (u32 timer = 0; timer < timers && !err; timer++)
		err = attach_timer(bpf, state, cpu, timer, periods[timer]);
	state->attached += state->links[cpu][0] != NULL;
	if (err)
		detach_cpu(state, cpu);
	return err;
}

static int cpu_attach(struct bpf *bpf, const bool *online, struct source_state *state)
{
	int err = source_attach_cpus(bpf, online, state, attach_cpu, detach_cpu);

	/* Without the program that takes late ticks, some ticks find the next task. */
	(void)bpf_watch_switches(bpf);
	state->on = state->attached > 0;
	if (!state->on)
		snprintf(state->why, sizeof(state->why), "cannot open a sampling timer: %s",
		         strerror(-err));
	return state->on ? 0 : err;
}

static void cpu_detach(struct source_state *state)
{
	for (u32 cpu = 0; cpu < MAX_CPUS; cpu++)
		detach_cpu(state, cpu);
}

const struct source source_cpu = {
	.name = "cpu",
	.title = "CPU",
	.summary = "CPU time",
	.values = {{"samples", "count"}, {"cpu", "nanoseconds"}},
	.history_weight = 16,
	.is_required = true,
	.has_idle = true,
	.configure = cpu_configure,
	.load = cpu_load,
	.attach = cpu_attach,
	.detach = cpu_detach,
	.fill = tallies_fill,
};
