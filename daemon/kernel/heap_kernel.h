/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kernel half of heap profiles: the programs that probes run and their maps (bpf/heap.h).
 * Functions whose comments name no thread are for the loop thread; the others only make system
 * calls.
 */
#pragma once

#include "bpf/heap.h"
#include "kernel/bpf.h"

/* Program descriptors. */
struct heap_programs {
	int session, entry, leave, leave_instruction, count;
};

/* The programs for processes that sample their own allocations. */
struct heap_told_programs {
	int alloc, freed;
	int sites; /* the map static_sites */
};

struct heap_kernel {
	struct bpf *bpf;
	struct bpf_link *exec_link;
	u32 exec_users;
};

/* Loads the programs on the first call, which takes some tenths of a second. 0 or a negative errno.
 * Any thread but the loop's. */
int heap_kernel_load(const struct heap_kernel *kernel, struct heap_programs *ret_programs);
int heap_kernel_load_told(const struct heap_kernel *kernel,
                          struct heap_told_programs *ret_programs);
/* Why the programs could not be loaded, or "". Any thread. */
const char *heap_kernel_why(const struct heap_kernel *kernel);
/* The ring buffer of events; negative before anything is loaded. */
int heap_kernel_events(const struct heap_kernel *kernel);

/* Sets the process that a slot's probes are for. Any thread. */
int heap_kernel_watch(const struct heap_kernel *kernel, u32 slot, const struct heap_target *target);
/* From now on the slot records nothing, even while probes are attached. Any thread. */
void heap_kernel_unwatch(const struct heap_kernel *kernel, u32 slot);
/* The counts of the slot's hits since the start, summed over all CPUs. Any thread. */
int heap_kernel_counts(const struct heap_kernel *kernel, u32 slot, struct heap_counts *ret_counts);
/* Removes the live addresses of a session that is over. Any thread. */
void heap_kernel_forget(const struct heap_kernel *kernel, u32 serial);
/* Calls of exec are reported while there is at least one holder. */
int heap_kernel_hold_exec(struct heap_kernel *kernel);
void heap_kernel_release_exec(struct heap_kernel *kernel);
