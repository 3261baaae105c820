/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The memory of a process is read from /proc/PID/status, which waits for no lock of the process: a
 * reader process may be held by a file system that does not respond.
 */
#include "collect/own_cost.h"

#include "base/bounds.h"
#include "base/buf.h"
#include "base/clock.h"
#include "memory/figures.h"
#include "reader/living.h"

#include <stdio.h>
#include <unistd.h>

#define PART(name) #name,
const char *const own_cpu_names[OWN_CPU_COUNT] = {OWN_CPU_PARTS(PART)};
const char *const own_memory_names[OWN_MEMORY_COUNT] = {OWN_MEMORY_PARTS(PART)};
#undef PART

bool own_rate_due(const struct own_rate *rate, uint64_t now_mono_ns)
{
	const struct own_point *latest = &rate->points[(rate->count + OWN_POINTS - 1) % OWN_POINTS];

	return !rate->count || now_mono_ns - latest->mono_ns >= OWN_POINT_SECONDS * NSEC_PER_SEC;
}

void own_rate_keep(struct own_rate *rate, const struct own_point *point)
{
	rate->points[rate->count++ % OWN_POINTS] = *point;
}

void own_rate_shares(const struct own_rate *rate, const struct own_point *now,
                     double ret_shares[OWN_CPU_COUNT])
{
	size_t oldest = rate->count > OWN_POINTS ? rate->count % OWN_POINTS : 0;
	const struct own_point *then = &rate->points[oldest];

	for (int part = 0; part < OWN_CPU_COUNT; part++) {
		bool is_known = rate->count && now->mono_ns > then->mono_ns &&
		                now->cpu_ns[part] > then->cpu_ns[part];

		ret_shares[part] = is_known ? (double)(now->cpu_ns[part] - then->cpu_ns[part]) /
		                                      (double)(now->mono_ns - then->mono_ns)
		                            : 0;
	}
}

void own_point_read(uint64_t bpf_ns, struct own_point *ret_point)
{
	*ret_point = (struct own_point){
		.mono_ns = clock_mono_ns(),
		.cpu_ns[OWN_CPU_daemon] = clock_ns(CLOCK_PROCESS_CPUTIME_ID),
		.cpu_ns[OWN_CPU_readers] = living_cpu_ns(),
		.cpu_ns[OWN_CPU_bpf] = bpf_ns,
	};
}

uint64_t own_cpu_ns(uint64_t bpf_ns)
{
	struct own_point now;
	uint64_t sum_ns = 0;

	own_point_read(bpf_ns, &now);
	for (int part = 0; part < OWN_CPU_COUNT; part++)
		sum_ns += now.cpu_ns[part];
	return sum_ns;
}

void own_rate_tick(struct own_rate *rate, uint64_t bpf_ns)
{
	struct own_point now;

	if (!own_rate_due(rate, clock_mono_ns()))
		return;
	own_point_read(bpf_ns, &now);
	own_rate_keep(rate, &now);
}

/* 0 if the process has ended in the meantime. */
static uint64_t memory_of(pid_t pid)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT;
	struct memory_figures figures;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (buf_read_file(&text, path, MAX_PROC_FILE_BYTES) ||
	    memory_parse_status(buf_text(&text), text.len, &figures))
		return 0;
	return figures.values[MEMORY_rss_anon] + figures.values[MEMORY_rss_shmem];
}

void own_cost_read(const struct own_rate *rate, struct own_group *group, uint64_t bpf_ns,
                   struct own_cost *ret_cost)
{
	pid_t pids[MAX_READER_PROCESSES + 1] = {getpid()};
	size_t count = 1 + living_pids(&pids[1]);
	struct own_cost cost = {0};
	struct own_point now;

	own_point_read(bpf_ns, &now);
	for (int part = 0; part < OWN_CPU_COUNT; part++)
		cost.cpu_ns[part] = now.cpu_ns[part];
	own_rate_shares(rate, &now, cost.cpu_share);
	for (size_t i = 0; i < count; i++)
		cost.memory_bytes[i ? OWN_MEMORY_readers : OWN_MEMORY_daemon] += memory_of(pids[i]);
	cost.has_group = own_group_read(group, pids, count, &cost.group) == 0;
	*ret_cost = cost;
}
