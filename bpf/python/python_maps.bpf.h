/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Maps for walking Python frames: which processes run Python, which thread state belongs to a
 * thread, which code objects were sent, and memory for a walk. No map allocates: programs may run
 * in an NMI.
 */
#pragma once

#include "bpf/maps.bpf.h"
#include "bpf/python.h"
#include "bpf/user.bpf.h"

enum {
	PYTHON_THREADS = 1 << 12,  /* slots that remember thread states */
	PYTHON_WORDS = 1024,       /* as many words as a stack has */
	PYTHON_RUNS = 512,         /* each has a native frame */
	PYTHON_MAX_FRAMES = 4096,  /* frames read to find where a run ends */
	PYTHON_MAX_BARE = 64,      /* frames without code: a program made them up */
	PYTHON_FRAME_BYTES = 128,  /* at most this many bytes of a frame are read */
	PYTHON_OBJECT_BYTES = 256, /* at most this many bytes of a code object are read */
};

/* The thread state found for a thread. Thread states and interpreters are added at the head of
 * their lists: while the heads are the same, a process with one interpreter has no new thread
 * state. */
struct python_thread {
	u64 pointer; /* of the thread, see task_thread_pointer() */
	u64 pid;
	u64 first_interpreter, first_thread;
	u64 interpreter, thread;
	u64 told; /* which thread of those that share this slot was last sent, and when */
};

/* Consecutive Python frames that one native frame of the interpreter's loop runs. */
struct python_run {
	u64 entry; /* an address within that native frame; 0: not known */
	u64 end;   /* index behind its last word */
};

/* The search for a thread's state. Several states may claim to be the thread's. */
struct python_search {
	u64 interpreter, next_interpreter, thread;
	u64 found_interpreter, found_thread, found_distance;
	u32 interpreters, threads, found;
};

/* Merging Python frames and native frames: what comes next of each. */
struct python_merge {
	u32 native, native_len;
	u32 word, end; /* of the run being put */
	u32 run, len;
	u32 in_run;       /* a native frame of the loop follows what is being put */
	u32 alone, loops; /* native frames of the loop that have no Python frame yet; all of them */
};

struct python_walk {
	struct python_process process;
	struct python_search search;
	struct python_merge merge;
	u64 interpreter, thread;
	u64 frame, cframe; /* read next */
	u64 code, signature;
	u32 image, pid, at;
	u32 frame_bytes, code_bytes; /* bytes to read of a frame, of a code object */
	u32 words_len, runs_len, broken, bare;
	u32 started_again;
	u32 place; /* of the account, bpf/user.bpf.h; set once something is to be sent */
	/* 3.10: added to the index of an entry's run, it gives the run that has the entry's
	 * frames. */
	s32 shift;
	u32 truncated; /* there are more frames than room for their words */
	u64 frame_words[PYTHON_FRAME_BYTES / sizeof(u64)];
	u64 code_words[PYTHON_OBJECT_BYTES / sizeof(u64)];
	u64 words[PYTHON_WORDS]; /* leaf first */
	struct python_run runs[PYTHON_RUNS];
	struct python_code told;
	u8 told_texts[MAX_PYTHON_CODE]; /* directly behind `told`, to which they belong */
};

struct python_process_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, u32);
	__type(value, struct python_process);
	__uint(max_entries, MAX_PYTHON_PROCESSES);
};

struct python_thread_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, u32);
	__type(value, struct python_thread);
	__uint(max_entries, PYTHON_THREADS);
};

struct python_sent_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, u32);
	__type(value, u64);
	__uint(max_entries, PYTHON_SENT);
	__uint(map_flags,
	       BPF_F_MMAPABLE); /* the daemon clears the signatures that it has forgotten */
};

struct python_code_map {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, PYTHON_CODES_BYTES);
};

struct python_walk_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, u32);
	__type(value, struct python_walk);
	__uint(max_entries, LANES);
};

extern struct python_process_map python_processes SEC(".maps");
extern struct python_thread_map python_threads SEC(".maps");
extern struct python_sent_map python_sent SEC(".maps");
extern struct python_code_map python_codes SEC(".maps");
extern struct python_walk_map python_walks SEC(".maps");
extern struct ring_user_map python_users SEC(".maps");

/* The ring_user of python->place, NULL if its account's share is used up. A program can make code
 * objects and threads as fast as they are sent, and the names that other programs need would wait
 * behind those. */
static __always_inline struct ring_user *python_user_with_room(const struct python_walk *python)
{
	return ring_user_at(&python_codes, &python_users, PYTHON_CODES_BYTES, python->place);
}

static __always_inline struct python_walk *python_get(u32 at)
{
	u32 lane = at >> LANE_SHIFT;

	return bpf_map_lookup_elem(&python_walks, &lane);
}
