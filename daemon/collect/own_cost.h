/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What profd itself costs: the daemon, the processes that read files for it, and its half in the
 * kernel. CPU time is exact and nobody's counts twice; a point of it is kept every few seconds, at
 * a drain, so that the last minute is known. Memory is read when somebody asks: of processes what
 * no file is behind. Pages of files (the program, its libraries, and in the daemon's RSS also the
 * BPF maps that are mapped into it) are left out, for the first are shared with whoever else maps
 * them and go when memory is short, and maps and rings have parts of their own: so the parts add
 * up. Loop thread, but for what is pure.
 */
#pragma once

#include "memory/own_group.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of bpf: from the moment when a program begins to take a sample to the one when it has; see
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

/* CPU time at a moment, since the start. */
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
	size_t count; /* that were ever kept: the latest is before it, modulo their number */
};

struct own_cost {
	uint64_t cpu_ns[OWN_CPU_COUNT];  /* since the start */
	double cpu_share[OWN_CPU_COUNT]; /* of one CPU, over the last minute or since the start */
	uint64_t memory_bytes[OWN_MEMORY_COUNT];
	bool has_group;               /* the control group is its own */
	struct own_group_usage group; /* then; not one more part: the others are in it */
};

/* Pure: whether it is time for another point, keeping it, and shares of one CPU since the oldest.
 */
bool own_rate_due(const struct own_rate *rate, uint64_t now_mono_ns);
void own_rate_keep(struct own_rate *rate, const struct own_point *point);
void own_rate_shares(const struct own_rate *rate, const struct own_point *now,
                     double ret_shares[OWN_CPU_COUNT]);

/* Now; `bpf_ns` is what the kernel half has told. */
void own_point_read(uint64_t bpf_ns, struct own_point *ret_point);
/* CPU time of all parts until now. */
uint64_t own_cpu_ns(uint64_t bpf_ns);
/* With every drain: keeps a point when it is time. */
void own_rate_tick(struct own_rate *rate, uint64_t bpf_ns);

/* All but maps and rings, which who has them fills in. */
void own_cost_read(const struct own_rate *rate, struct own_group *group, uint64_t bpf_ns,
                   struct own_cost *ret_cost);
