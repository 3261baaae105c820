/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Maps of heap profiles. Probes run in the context of the thread that hits them, never nested in
 * one another on the same thread.
 */
#pragma once

#include "bpf/heap.h"
#include "bpf/maps.bpf.h"
#include "bpf/user.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, u32);
	__type(value, struct heap_target);
	__uint(max_entries, HEAP_SLOTS);
} heap_targets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, u32);
	__type(value, struct heap_cpu);
	__uint(max_entries, HEAP_SLOTS);
} heap_cpus SEC(".maps");

/* The call whose return a thread's probe waits for. It is freed with the thread. */
struct heap_thread {
	u64 frame; /* the stack pointer after its return; 0: there is no such call */
	u64 site;  /* cookie */
	u64 size;  /* asked for */
	u64 pointer;
	u64 freed_ns; /* a realloc of a sampled address: time from which that counts as free; else 0
	               */
	u32 serial, sampled;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct heap_thread);
} heap_threads SEC(".maps");

/* Live sampled addresses. Elements are allocated as needed: uprobe programs may allocate, and
 * mostly no process is watched. */
struct heap_live_key {
	u64 address;
	u64 serial;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct heap_live_key);
	__type(value, u8);
	__uint(max_entries, HEAP_LIVE);
} heap_live SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, HEAP_EVENT_BYTES);
} heap_events SEC(".maps");

struct ring_user_map heap_users SEC(".maps");

/* Memory in which an event and its stack are put together. The program that holds the lane owns
 * it. */
struct heap_out {
	struct heap_event event;
	u64 words[SCRATCH_FRAMES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, u32);
	__type(value, struct heap_out);
	__uint(max_entries, 1);
} heap_outs SEC(".maps");

/* Bytes until the next sample. A global function, so that the verifier checks it once. */
u64 heap_next(u64 rate);
