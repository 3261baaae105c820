/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Maps for GPUs. Probes run in the context of the thread that hits them, never nested in one
 * another on the same thread; other threads may run in between on the same CPU.
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

/* Rows of calls. A thread writes only to its own. Elements are allocated as needed: uprobe programs
 * may allocate, and mostly no process uses a GPU. */
struct gpu_call_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct gpu_call_key);
	__type(value, struct gpu_call);
	__uint(max_entries, GPU_CALLS_ROWS);
};

struct gpu_call_map gpu_calls_0 SEC(".maps");
struct gpu_call_map gpu_calls_1 SEC(".maps");

/* The daemon resets these when it has emptied a half. */
struct taken gpu_rows[HALVES], gpu_slots_taken[HALVES];
struct gpu_slot gpu_slots[HALVES][GPU_SLOTS];

/* The rows in which a thread counted last, each in the place to which its key leads. */
enum { GPU_RECENT_BITS = 6, GPU_RECENT = 1 << GPU_RECENT_BITS };

/* The words in which the keys of one thread can differ: from the object on. */
enum { GPU_KEY_WORDS = 5 };
_Static_assert(sizeof(struct gpu_call_key) == __builtin_offsetof(struct gpu_call_key, object) +
                                                      GPU_KEY_WORDS * sizeof(u64),
               "its last words");

struct gpu_recent {
	u64 words[GPU_KEY_WORDS];
	u32 turn; /* as of flip_seen; if it differs, the half may have been emptied */
	u32 slot;
};

enum { GPU_CONTEXT_STACK = 8 };

/* What is known of a thread. It is freed with the thread. */
struct gpu_thread {
	/* The call that the thread is in and whose return is wanted. */
	u64 frame; /* the stack pointer after its return; 0: there is no such call */
	u64 site;  /* cookie */
	u64 began_ns;
	u64 first, second; /* arguments; the role says which */
	u64 size;
	/* The function of the runtime by which the driver is called. */
	u64 tag_frame, tag_return;
	u8 tag_call, tag_direction;
	u8 memory_device; /* of the call that is waited for */
	/* The current context's device; how many contexts are below it, and which. */
	u8 device;
	u8 pushed;
	u64 context; /* 0: not known, or none */
	u64 below[GPU_CONTEXT_STACK];
	/* The call of a framework's allocator that the thread is in. */
	u64 chunk_frame, chunk_site; /* as above */
	u64 chunk_bytes;
	u8 chunk_device, chunk_is_a_try;
	u32 image, tid; /* task_image(); the thread's number */
	u32 exec; /* number of execs for which the rest is valid; after another exec none of it is
	           */
	/* The pace at which calls are walked, and events. */
	struct pace pace, events;
	struct flip_seen flip;
	u64 fresh_ns; /* time from which new rows are counted, of which only some are walked */
	u64 fresh;
	struct gpu_recent recent[GPU_RECENT];
};
/* Fits into 4096 bytes together with what the kernel keeps beside it. */
_Static_assert(sizeof(struct gpu_thread) <= 3584, "more takes twice the memory");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct gpu_thread);
} gpu_threads SEC(".maps");

/* Memory in which an event and its stack are put together. The program that holds LANE_PROBE owns
 * it. */
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
