/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Loads, attaches, detaches. Parts that wait for something need the loop; it runs only to close
 * them.
 */
#include "collect/trial.h"

#include "collect/load.h"
#include "cpu/cpu.h"
#include "growth/oom.h"
#include "heap/heap_pricing.h"
#include "kernel/heap_kernel.h"
#include "kernel/perf.h"
#include "kernel/uprobes.h"
#include "sideband/sideband.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { TABLE_BYTES = 4 << 20 };

struct attempt {
	struct trial *trial;
	uv_loop_t loop;
	bool online[MAX_CPUS];
	struct bpf bpf;
	struct source_state states[KIND_COUNT];
};

static void finish(struct trial_part *part, int err, const char *why)
{
	part->tried = true;
	part->err = err;
	snprintf(part->why, sizeof(part->why), "%s", err ? why : "");
}

static void try_source(struct attempt *attempt, int kind)
{
	struct source_state *state = &attempt->states[kind];
	int err = sources[kind]->attach(&attempt->bpf, attempt->online, state);

	sources[kind]->detach(state);
	finish(&attempt->trial->sources[kind], err, state->why);
}

/* Tries whether there is a timer, without its program. */
static void try_timer(struct attempt *attempt, u32 sample_hz)
{
	int err = -ENODEV;

	for (u32 cpu = 0; cpu < MAX_CPUS && err == -ENODEV; cpu++)
		if (attempt->online[cpu])
			err = cpu_timer_try(sample_hz, cpu, &attempt->trial->event);
	finish(&attempt->trial->sources[KIND_cpu], err, "");
}

static void try_process_events(struct attempt *attempt)
{
	struct sideband *sideband;
	int err = sideband_new(&attempt->loop, NULL, NULL, NULL, &sideband);

	if (!err) {
		err = sideband_update_cpus(sideband, attempt->online);
		sideband_stop(sideband);
		uv_run(&attempt->loop, UV_RUN_DEFAULT);
		sideband_free(sideband);
	}
	finish(&attempt->trial->process_events, err, "");
}

static void forget_kill(const struct oom_kill *kill, void *ctx)
{
	(void)kill;
	(void)ctx;
}

static void try_kills(struct attempt *attempt)
{
	struct oom oom = {0};

	oom_start(&oom, &attempt->bpf, &attempt->loop, forget_kill, NULL);
	finish(&attempt->trial->kills, oom.why[0] ? -EOPNOTSUPP : 0, oom.why);
	oom_stop(&oom);
	uv_run(&attempt->loop, UV_RUN_DEFAULT);
	oom_release(&oom);
}

static void try_probes(struct attempt *attempt)
{
	struct trial *trial = attempt->trial;
	const struct heap_kernel kernel = {.bpf = &attempt->bpf};
	int err;

	err = heap_pricing_measure(&kernel, &trial->price, &trial->probe_sessions);
	trial->multi_probes = uprobes_are_multi();
	finish(&trial->probes, err, "");
	for (int kind = 0; kind < KIND_COUNT; kind++)
		if (sources[kind]->by_probes)
			trial->sources[kind] = trial->probes;
}

static void try_loaded(struct attempt *attempt)
{
	struct trial *trial = attempt->trial;

	trial->event = attempt->states[KIND_cpu].event;
	for (int kind = 0; kind < KIND_COUNT; kind++)
		try_source(attempt, kind);
	finish(&trial->exec, bpf_watch_exec(&attempt->bpf), "");
	bpf_unwatch_exec(&attempt->bpf);
	try_kills(attempt);
	try_probes(attempt);
}

static int run(struct attempt *attempt, u32 sample_hz, bool may_load)
{
	const struct source_config config = {
		sample_hz, {.at_all = true, .at_any_price = true}, true, true};
	struct trial *trial = attempt->trial;
	char why[256] = "";
	int err = cpulist_online(attempt->online, MAX_CPUS);

	if (err)
		return err;
	for (u32 cpu = 0; cpu < MAX_CPUS; cpu++)
		trial->cpus_online += attempt->online[cpu];
	try_process_events(attempt);
	err = load_kernel_half(&attempt->bpf, attempt->states, &config, TABLE_BYTES, why);
	if (!err)
		err = load_all_parts(&attempt->bpf, why);
	finish(&trial->programs, err, why);
	/* Attach what the default setting attaches. */
	attempt->states[KIND_rss].config.growth.at_any_price = false;
	bpf_features_find(&attempt->bpf, err && may_load, trial->features);
	if (err)
		try_timer(attempt, sample_hz);
	else
		try_loaded(attempt);
	bpf_release(&attempt->bpf);
	return 0;
}

void trial_run(struct trial *ret_trial, u32 sample_hz, bool may_load)
{
	_cleanup_free_ struct attempt *attempt = calloc(1, sizeof(*attempt));
	int err = attempt ? uv_loop_init(&attempt->loop) : -ENOMEM;

	*ret_trial = (struct trial){0};
	if (!err) {
		attempt->trial = ret_trial;
		err = run(attempt, sample_hz, may_load);
		uv_loop_close(&attempt->loop);
	}
	if (err)
		finish(&ret_trial->programs, err, "");
}

void trial_release(struct trial *trial)
{
	bpf_features_release(trial->features);
}
