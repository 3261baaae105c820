/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct bpf - the loaded kernel half with its maps. Loop thread only.
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

/* The contents of one drained half, as arrays. Owned by the struct bpf and valid until the next
 * drain. */
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
	struct bpf_parts *parts;    /* what is loaded later: kernel/bpf_parts.h */
	int types_fd;               /* memory file with the types of kernel/bpf_types.h */
	struct bpf_link *exec_link, *exit_link;
	struct bpf_link *switch_link; /* of bpf_watch_switches() */
	const struct bpf_program *switch_program;
	bool waits_are_ready; /* their program may be attached there */
	u32 tally_size, stack_size;
	u32 others_tallies, others_stacks; /* the part of these sizes that is not for CPU time */
	u32 online_cpus;                   /* when the daemon started */
	u32 cpu_count, cpu_limit;          /* number of possible CPUs; limit of their numbers */
	struct tally_key *tally_keys;
	struct tally *tallies;
	u64 *stack_keys;
	struct stack_node *stacks;
	struct gpu_call_key *gpu_keys;
	struct gpu_call *gpu_calls;
	size_t gpu_room; /* of gpu_keys and gpu_calls; grown as needed */
	struct counters *per_cpu;
	bool *quiet;   /* by CPU: was seen without users of BUSY_SHARED after the flip */
	u64 lane_busy; /* value of the kernel half's counter at the last drain */
	u64 flip_mono_ns;
	bool left[HALVES]; /* some entries could not be read and are still in the maps */
	/* Times that a half was treated as settled although programs without a lane may have used
	 * it. */
	u64 unsettled;
	/* Times that a half was treated as settled although a lane was taking a sample of it. */
	u64 overdue;
	bool stuck[2]; /* by half: its latest drain was overdue */
};

/* The kernel's BTF, without which nothing loads. 0, or a negative errno if it cannot be read. */
#define BPF_BTF_FILE "/sys/kernel/btf/vmlinux"
int bpf_find_btf(void);

/* Opens the BPF object and sizes its maps for this number of CPUs, this sampling rate, and this
 * number of kinds of growth, as two of which waits count. There is at least one: samples of GPUs
 * share their room.
 * After this the sources configure their programs, then comes bpf_load(). On failure `why` is one
 * line for the user. */
int bpf_open(struct bpf *bpf, u32 online_cpus, u32 sample_hz, u32 growth_kinds, char why[256]);
int bpf_load(struct bpf *bpf, char why[256]);
void bpf_release(struct bpf *bpf);

/* Makes the kernel half withdraw the walker's data on a process at the moment when the process
 * calls exec or ends. */
int bpf_watch_exec(struct bpf *bpf);
void bpf_unwatch_exec(struct bpf *bpf);

/* Makes the other half active from `at_mono_ns` on, which is now or soon. Returns the half that was
 * active. Call it again only after that half has been drained. */
u32 bpf_flip(struct bpf *bpf, u64 at_mono_ns);
/* Moves a flip to an earlier moment. Both moments are still to come. */
void bpf_flip_earlier(struct bpf *bpf, u64 at_mono_ns);
/* What a lane of a CPU is doing: BUSY_...; for BUSY_SHARED, how many programs work without a
 * lane. */
u64 bpf_busy(const struct bpf *bpf, u32 cpu, u32 lane);
/* False while a program may still write to the old half. Call it after the moment of the flip. */
bool bpf_settled(struct bpf *bpf, u32 half);
/* Empties a settled half. */
void bpf_drain(struct bpf *bpf, u32 half, struct drained *ret_drained);
/* Kernel memory of all maps together, in bytes. */
u64 bpf_map_bytes(const struct bpf *bpf);
