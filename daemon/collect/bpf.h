/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct bpf - the kernel half loaded, with its maps; this and the sources are the only users of
 * the skeleton. Loop thread only.
 */
#pragma once

#include "bpf/abi.h"
#include "bpf/gpu.h"

#include <stdbool.h>
#include <stddef.h>

struct profd_bpf;
struct bpf_link;
struct bpf_map;
struct bpf_parts;

/* One drained half, as arrays; owned by the struct bpf and valid until the next drain. */
struct drained {
	struct counters counters; /* summed over the CPUs and their lanes */
	const struct tally_key *tally_keys;
	struct tally *tallies;
	size_t tally_count;
	const u64 *stack_keys;
	const struct stack_node *stacks;
	size_t stack_count;
	const struct gpu_call_key *gpu_keys;
	const struct gpu_call *gpu_calls;
	size_t gpu_count;
	int err; /* reading failed: the arrays hold what could be read */
};

struct bpf {
	struct profd_bpf *skeleton; /* what is loaded at the start */
	struct bpf_parts *parts;    /* what is loaded later: collect/bpf_parts.h */
	int types_fd;               /* collect/bpf_types.h, in memory */
	struct bpf_link *exec_link, *exit_link;
	u32 tally_size, stack_size;
	u32 others_tallies, others_stacks; /* of these, what is not for CPU time */
	u32 cpu_count, cpu_limit; /* how many there can be, and what their numbers are below */
	struct tally_key *tally_keys;
	struct tally *tallies;
	u64 *stack_keys;
	struct stack_node *stacks;
	struct gpu_call_key *gpu_keys;
	struct gpu_call *gpu_calls;
	size_t gpu_room; /* of these two; grown as needed */
	struct counters *per_cpu;
	bool *quiet;   /* CPUs without users of BUSY_SHARED at a moment after the flip */
	u64 lane_busy; /* of which is accounted for */
	u64 flip_mono_ns;
	bool left[HALVES]; /* something that could not be read is still there */
	u64 unsettled;     /* times that a half was taken for settled though it may not have been */
	u64 overdue;       /* the same, though a lane was in the middle of a sample of it */
	bool stuck[2];     /* by half: its last one was */
};

/* Without it nothing loads. 0, or why it cannot be read. */
#define BPF_BTF_FILE "/sys/kernel/btf/vmlinux"
int bpf_find_btf(void);

/* Opens and sizes the maps for so many CPUs at such a rate, and kinds of growth, at least one: what
 * comes from GPUs shares their room. Sources then configure, then bpf_load(). */
int bpf_open(struct bpf *bpf, u32 online_cpus, u32 sample_hz, u32 growth_kinds, char why[256]);
int bpf_load(struct bpf *bpf, char why[256]);
/* The object, once more; NULL and errno. Any thread. */
struct profd_bpf *bpf_open_object(const struct bpf *bpf);
void bpf_release(struct bpf *bpf);

/* Lets the kernel half withdraw what the walker knows of a process at the moment it calls exec, or
 * ends. */
int bpf_watch_exec(struct bpf *bpf);
void bpf_unwatch_exec(struct bpf *bpf);

/* Makes the other half the active one from a moment on, now or soon; the half that was. Not again
 * before that half has been drained. */
u32 bpf_flip(struct bpf *bpf, u64 at_mono_ns);
/* The same flip at an earlier moment, neither of which has come yet. */
void bpf_flip_earlier(struct bpf *bpf, u64 at_mono_ns);
/* What a lane of a CPU is doing: BUSY_... */
u64 bpf_busy(const struct bpf *bpf, u32 cpu, u32 lane);
/* False while a program may still be writing to the half that was flipped away; asked after the
 * moment. */
bool bpf_settled(struct bpf *bpf, u32 half);
/* Empties a settled half. */
void bpf_drain(struct bpf *bpf, u32 half, struct drained *ret_drained);
/* Kernel memory of a map; of one that was not made, none. */
u64 bpf_map_memory(const struct bpf_map *map);
/* The same of all maps. */
u64 bpf_map_bytes(const struct bpf *bpf);
