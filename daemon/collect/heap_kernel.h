/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What heap profiles have in the kernel: the programs that probes run and their maps (bpf/heap.h).
 * Functions that name no thread are for the loop thread; the rest only make system calls.
 */
#pragma once

#include "bpf/heap.h"
#include "collect/bpf.h"

struct ring_buffer;

/* Programs, by descriptor. */
struct heap_programs {
	int session, entry, leave, leave_instruction, count, usdt_alloc, usdt_free;
};

struct heap_kernel {
	struct heap_programs programs;
	int targets, cpus, live, events, static_sites; /* maps */
	u32 cpu_count;
	struct bpf *bpf;
	struct bpf_link *exec_link;
	u32 exec_users;
};

/* Between bpf_open() and bpf_load(): what kinds of uprobe the programs are for. */
void heap_kernel_configure(struct bpf *bpf);
/* After bpf_load(). */
void heap_kernel_open(struct heap_kernel *kernel, struct bpf *bpf);

/* Says which process a slot's probes are for. Any thread. */
int heap_kernel_watch(const struct heap_kernel *kernel, u32 slot, const struct heap_target *target);
/* From now on nothing is recorded, whatever is attached. Any thread. */
void heap_kernel_unwatch(const struct heap_kernel *kernel, u32 slot);
/* What the slot's hits came to ever since the start, on all CPUs. Any thread. */
int heap_kernel_counts(const struct heap_kernel *kernel, u32 slot, struct heap_counts *ret_counts);
/* Forgets the live addresses of a session that is over. Any thread. */
void heap_kernel_forget(const struct heap_kernel *kernel, u32 serial);
/* Tells of exec while anybody wants it. */
int heap_kernel_hold_exec(struct heap_kernel *kernel);
void heap_kernel_release_exec(struct heap_kernel *kernel);
