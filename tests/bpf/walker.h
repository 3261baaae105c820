/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kernel half's walker, compiled as plain C: once as it walks x86-64, once as it walks arm64.
 * The caller supplies what the walker would look up in maps and read from a process's memory. Not
 * reentrant, because a BPF helper has no argument by which it could find its caller.
 */
#pragma once

#include "bpf/python.h"
#include "bpf/unwind_table.h"

#include <stdbool.h>
#include <stddef.h>

/* Reads every byte or none, like bpf_probe_read_user(); 0 or a negative number. */
typedef int walker_read_fn(u64 address, void *into, size_t len, void *ctx);

enum { WALKER_MAX_WORDS = 1024, WALKER_THREADS_WORDS = 7 << 12, WALKER_USERS_WORDS = 5 << 8 };

/* The contents of the maps. A look-up beyond a map's count finds nothing. */
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

/* A process that runs Python, and what maps remember about it from walk to walk. */
struct walker_python {
	struct python_process process;
	u64 thread_pointer;
	u64 sent[PYTHON_SENT];
	u64 threads[WALKER_THREADS_WORDS];
	u64 users[WALKER_USERS_WORDS];
	u32 uid; /* the process's user */
	/* Positions up to which the ring buffer of code objects was read and written. */
	u64 codes_read, codes_told;
	/* Called with each report of a code object or a thread; returns 0, or a negative number
	 * when there is no room for the report. */
	int (*told)(const void *bytes, size_t len, void *ctx);
	void *ctx;
};

/* A return that a probe waits for: the stack pointer at which the function began, and the address
 * to which it will return. */
struct walker_return {
	u64 stack, address;
};

enum { WALKER_MAX_RETURNS = 64 };

struct walker_input {
	const struct walker_maps *maps;
	u32 pid, parent_pid;     /* parent: one with the same mappings; 0 for none */
	u64 pc;                  /* an address within the sampled instruction */
	u64 registers[MAX_REGS]; /* by DWARF number */
	walker_read_fn *read;
	void *ctx;
	u64 trampoline;                      /* replaces the return addresses of probed functions */
	const struct walker_return *returns; /* innermost first, WALKER_MAX_RETURNS at most */
	size_t return_count;
	struct walker_python *python; /* NULL: the process does not run Python */
};

struct walker_result {
	u64 frames[WALKER_MAX_WORDS]; /* words, see bpf/words.h */
	u32 len;                      /* without the value that says why a stack is truncated */
	u32 by_pointer;               /* frames whose caller was found by frame pointer */
	u32 outcome;                  /* COUNTER_walk_complete or one of WALK_CUTS */
	const char *ended;            /* its name */
	u64 reads;                    /* calls of `read` */
	u32 gil;                      /* enum python_gil */
	u64 counters[COUNTER_COUNT];
};

/* Aborts when the walker breaks its contract: counts an outcome twice or not at all, returns more
 * frames than it may, or a last frame that is not the outcome it counted. */
typedef void walker_fn(const struct walker_input *input, struct walker_result *ret_result);
walker_fn walker_x86, walker_arm64;

enum { WALKER_MAX_NODES = 1024 };

/* A half's stacks: the keys in its map, and the counters beside the map. At first everything but
 * `room` and `others_room` is 0. */
struct walker_nodes {
	u32 room, others_room; /* at most WALKER_MAX_NODES */
	u32 count;
	u64 over_share; /* counted as stacks_over_share */
	struct taken taken, others_taken;
	u64 keys[WALKER_MAX_NODES];
};

/* Stores a stack for a task of a user, as a tick or not. Returns its id, or STACK_LOST. */
typedef u64 walker_store_fn(struct walker_nodes *nodes, u32 uid, bool is_tick, const u64 *frames,
                            u32 len);
walker_store_fn walker_store_x86, walker_store_arm64;
