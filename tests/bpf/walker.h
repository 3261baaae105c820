/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kernel half's walker, compiled as plain C: once as it walks x86-64, once as it walks arm64.
 * What it would look up in maps and read of a process's memory is given to it. Not reentrant, as
 * BPF helpers have no context to find their caller by.
 */
#pragma once

#include "bpf/python.h"
#include "bpf/unwind_table.h"

#include <stdbool.h>
#include <stddef.h>

/* Every byte or nothing, as bpf_probe_read_user() does; 0 or a negative number. */
typedef int walker_read_fn(u64 address, void *into, size_t len, void *ctx);

enum { WALKER_MAX_WORDS = 1024, WALKER_THREADS_WORDS = 7 << 12, WALKER_USERS_WORDS = 5 << 8 };

/* What maps hold. Counts are those of the maps; looking further finds nothing. */
struct walker_maps {
	u32 *pool; /* all chunks, one after the other */
	size_t pool_words;
	struct unwind_table *tables;
	size_t table_count;
	struct unwind_mapping *mappings;
	size_t mapping_count;
	u64 *slots;
	size_t slot_count; /* a power of two */
};

/* A process that runs Python, and what maps remember of it from walk to walk. */
struct walker_python {
	struct python_process process;
	u64 thread_pointer;
	u64 sent[PYTHON_SENT];
	u64 threads[WALKER_THREADS_WORDS];
	u64 users[WALKER_USERS_WORDS];
	u32 uid; /* whose process it is */
	/* How far the ring buffer of code objects was read, and is written. */
	u64 codes_read, codes_told;
	/* What is told of code objects; 0, or a negative number when there is no room for it. */
	int (*told)(const void *bytes, size_t len, void *ctx);
	void *ctx;
};

/* A return that a probe waits for: the stack pointer where the function began, and where it will
 * return to. */
struct walker_return {
	u64 stack, address;
};

enum { WALKER_MAX_RETURNS = 64 };

struct walker_input {
	const struct walker_maps *maps;
	u32 pid, parent_pid;     /* a parent that has the same mappings; 0 for none */
	u64 pc;                  /* an address within the sampled instruction */
	u64 registers[MAX_REGS]; /* by DWARF number */
	walker_read_fn *read;
	void *ctx;
	u64 trampoline;                      /* what is in the place of their return addresses */
	const struct walker_return *returns; /* the innermost first; no more are looked at than
	                                        WALKER_MAX_RETURNS */
	size_t return_count;
	struct walker_python *python; /* NULL: not a process that runs Python */
};

struct walker_result {
	u64 frames[WALKER_MAX_WORDS]; /* words, see bpf/python.h */
	u32 len;                      /* without the value that says why a stack was cut */
	u32 by_pointer;               /* frames whose caller was found by frame pointer */
	u32 outcome;                  /* COUNTER_walk_complete or one of WALK_CUTS */
	const char *ended;            /* its name */
	u64 reads;                    /* calls of `read` */
	u32 gil;                      /* enum python_gil */
	u64 counters[COUNTER_COUNT];
};

/* Aborts when the walker breaks its own contract: counts an outcome twice or not at all, returns
 * more frames than it may, or a last frame that is not the outcome it counted. */
typedef void walker_fn(const struct walker_input *input, struct walker_result *ret_result);
walker_fn walker_x86, walker_arm64;

enum { WALKER_MAX_NODES = 1024 };

/* A half's stacks: what its map has, and what is counted beside. All nothing but the rooms, at
 * first. */
struct walker_nodes {
	u32 room, others_room; /* at most WALKER_MAX_NODES */
	u32 count;
	u64 over_share; /* as is counted in stacks_over_share */
	struct taken taken, others_taken;
	u64 keys[WALKER_MAX_NODES];
};

/* Keeps a stack for a task of a user, in a tick or not; its id, or STACK_LOST. */
typedef u64 walker_store_fn(struct walker_nodes *nodes, u32 uid, bool is_tick, const u64 *frames,
                            u32 len);
walker_store_fn walker_store_x86, walker_store_arm64;
