/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The costs of profd itself: of the daemon, of its reader processes, and of the kernel half. CPU
 * time is exact, and none is counted twice. The daemon keeps a point of it every few seconds, at a
 * drain, so that the last minute is known. Memory is read on request; of processes it is the memory
 * that no file backs. Pages of files (the program, its libraries, and in the daemon's RSS also the
 * BPF maps that are mapped into it) are left out. The former are shared with other processes that
 * map them, and are reclaimed when memory is short; maps and rings are parts of their own. So the
 * parts add up. Loop thread, except for pure functions.
 */
#pragma once

#include "memory/own_group.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `bpf` is the time from when a program begins to take a sample until it has taken it; see
 * lane_enter() in bpf/maps.bpf.h. */
#define OWN_CPU_PARTS(PART)    PART(daemon) PART(readers) PART(bpf)
#define OWN_MEMORY_PARTS(PART) PART(daemon) PART(readers) PART(maps) PART(rings)

#define PART(name) OWN_CPU_##name,
enum own_cpu_part { OWN_CPU_PARTS(PART) OWN_CPU_COUNT };
#undef PART
#define PART(name) OWN_MEMORY_##name,
enum own_memory_part { OWN_MEMORY_PARTS(PART) OWN_MEMORY_COUNT };
#undef PART

extern const char *const own_cpu_names[OWN_CPU_COUNT];
extern const char *const own_memory_names[OWN_MEMORY_COUNT];

/* CPU time from the start to a moment. */
struct own_point {
	uint64_t mono_ns;
	uint64_t cpu_ns[OWN_CPU_COUNT];
};

enum {
	OWN_POINT_SECONDS = 5,
	OWN_POINTS = 60 / OWN_POINT_SECONDS + 1, /* the oldest is a minute old, or a little more */
};

/* The points of the last minute; all zero at first. */
struct own_rate {
	struct own_point points[OWN_POINTS];
	size_t count; /* points ever kept; the latest is at (count - 1) % OWN_POINTS */
};

struct own_cost {
	uint64_t cpu_ns[OWN_CPU_COUNT];  /* since the start */
	double cpu_share[OWN_CPU_COUNT]; /* of one CPU, over the last minute or since the start */
	uint64_t memory_bytes[OWN_MEMORY_COUNT];
	bool has_group;               /* profd has a control group of its own */
	struct own_group_usage group; /* valid then; no further part: it includes the others */
};

/* Pure: whether another point is due; keeping it; shares of one CPU since the oldest point. */
bool own_rate_due(const struct own_rate *rate, uint64_t now_mono_ns);
void own_rate_keep(struct own_rate *rate, const struct own_point *point);
void own_rate_shares(const struct own_rate *rate, const struct own_point *now,
                     double ret_shares[OWN_CPU_COUNT]);

/* Reads the current point. `bpf_ns` is what the kernel half has reported. */
void own_point_read(uint64_t bpf_ns, struct own_point *ret_point);
/* CPU time of all parts until now. */
uint64_t own_cpu_ns(uint64_t bpf_ns);
/* Call at every drain: keeps a point if one is due. */
void own_rate_tick(struct own_rate *rate, uint64_t bpf_ns);

/* Reads all costs but the memory of maps and rings, which the caller adds. */
void own_cost_read(const struct own_rate *rate, struct own_group *group, uint64_t bpf_ns,
                   struct own_cost *ret_cost);
