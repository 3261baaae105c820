/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What watching GPUs keeps. Probes run in the context of the thread that hits them, never inside of
 * one another on the same thread; other threads may come in between on the same CPU.
 */
#pragma once

#include "bpf/gpu.h"
#include "bpf/maps.bpf.h"
#include "bpf/pace.bpf.h"
#include "bpf/user.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, GPU_EVENT_BYTES);
} gpu_events SEC(".maps");

struct ring_user_map gpu_users SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, u32);
	__type(value, struct gpu_counts);
	__uint(max_entries, 1);
} gpu_counts SEC(".maps");

/* Rows of calls. A thread writes to its own only. Allocated as needed: probes may, and mostly
 * nobody has a GPU. */
struct gpu_call_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct gpu_call_key);
	__type(value, struct gpu_call);
	__uint(max_entries, GPU_CALLS_ROWS);
};

struct gpu_call_map gpu_calls_0 SEC(".maps");
struct gpu_call_map gpu_calls_1 SEC(".maps");

/* The daemon sets them back when it has emptied a half. */
struct taken gpu_rows[HALVES], gpu_slots_taken[HALVES];
struct gpu_slot gpu_slots[HALVES][GPU_SLOTS];

/* Rows that a thread counted in last, each in the place that its key leads to. */
enum { GPU_RECENT_BITS = 6, GPU_RECENT = 1 << GPU_RECENT_BITS };

/* In what the keys of a thread differ, as words: from the object on. */
enum { GPU_KEY_WORDS = 5 };
_Static_assert(sizeof(struct gpu_call_key) == __builtin_offsetof(struct gpu_call_key, object) +
                                                      GPU_KEY_WORDS * sizeof(u64),
               "its last words");

struct gpu_recent {
	u64 words[GPU_KEY_WORDS];
	u32 turn; /* as of flip_seen, or it is of a half that may have been emptied */
	u32 slot;
};

enum { GPU_CONTEXT_STACK = 8 };

/* What is known of a thread. It goes with the thread. */
struct gpu_thread {
	/* The call it is in whose return is wanted. */
	u64 frame; /* the stack pointer after its return; 0: it is in none */
	u64 site;  /* cookie */
	u64 began_ns;
	u64 first, second; /* arguments, by its role */
	u64 size;
	/* By which of the runtime's functions the driver is called. */
	u64 tag_frame, tag_return;
	u8 tag_call, tag_direction;
	u8 memory_device; /* of the call above */
	/* The current context's device; how many contexts are below it, and which. */
	u8 device;
	u8 pushed;
	u64 context; /* 0: not known, or none */
	u64 below[GPU_CONTEXT_STACK];
	/* The call of a framework's allocator it is in. */
	u64 chunk_frame, chunk_site; /* as above */
	u64 chunk_bytes;
	u8 chunk_device, chunk_is_a_try;
	u32 image, tid; /* task_image(); the thread's number */
	u32 exec;       /* that the rest is of; after another one nothing of it is true any more */
	/* Which calls are walked, and which events. */
	struct pace pace, events;
	struct flip_seen flip;
	u64 fresh_ns; /* since when new rows are counted, of which only some are walked */
	u64 fresh;
	struct gpu_recent recent[GPU_RECENT];
};
/* Of 4096 bytes, with what the kernel keeps beside it. */
_Static_assert(sizeof(struct gpu_thread) <= 3584, "more takes twice the memory");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct gpu_thread);
} gpu_threads SEC(".maps");

/* Room to put an event and its stack together; whoever has LANE_PROBE has this. */
struct gpu_out {
	struct gpu_event event;
	u64 words[SCRATCH_FRAMES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, u32);
	__type(value, struct gpu_out);
	__uint(max_entries, 1);
} gpu_outs SEC(".maps");

#define GPU_ADD(what)                                                                      \
	do {                                                                               \
		u32 gpu_zero = 0;                                                          \
		struct gpu_counts *gpu_mine = bpf_map_lookup_elem(&gpu_counts, &gpu_zero); \
		if (gpu_mine)                                                              \
			__sync_fetch_and_add(&gpu_mine->what, 1);                          \
	} while (0)
