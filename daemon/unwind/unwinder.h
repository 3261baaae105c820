/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct unwinder - keeps what the kernel's walker needs in step with the processes of the host:
 * their mappings, and tables for the executables that they map, one table each or one for each
 * piece of a large executable. Tables are built in reader processes, a few at a time; those that
 * walks have missed most come first. One budget bounds all tables. When it is used up, the table
 * that no walk has used for the longest time makes way for a wanted one.
 *
 * Memory that walkers may still be reading is never written to: what is replaced is unpublished
 * first, and reused once every CPU has been seen outside the walker (`quiet`). Loop thread only.
 */
#pragma once

#include "bpf/unwind_table.h"
#include "proc/proc.h"
#include "reader/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

struct unwinder;

/* The shared memory, all zero at first; it outlives the unwinder. Entry 0 of tables and of mappings
 * is not used. */
struct unwind_memory {
	/* The words of tables are in at most `chunk_count` chunks of CHUNK_WORDS. open_chunks()
	 * makes `count` chunks from number `first` on, all zero, that walkers find. It returns how
	 * many it made: fewer than `count` when the kernel refuses one. Walkers no longer find a
	 * hidden chunk, which is closed when no walker reads it. */
	size_t chunk_count;
	uint32_t (*open_chunks)(uint32_t first, uint32_t count, uint32_t **ret_words, void *ctx);
	void (*hide_chunk)(uint32_t chunk, void *ctx);
	void (*close_chunk)(uint32_t chunk, void *ctx);
	struct unwind_table *tables;
	size_t table_count;
	struct unwind_mapping *mappings;
	size_t mapping_count;
	uint64_t *slots;
	size_t slot_count; /* SLOTS_PER_BUCKET times a power of two */
	uint64_t *execs;   /* EXEC_TIMES entries, written by the kernel half */
	uint32_t *epoch;   /* walkers write it into unwind_table.used; the unwinder advances it */
	/* The user that a process belongs to; NULL: as in proc/owner.h. */
	uint32_t (*owner)(uint32_t pid);
	/* True when every CPU has been outside the walker at some moment during the call. */
	bool (*quiet)(void *ctx);
	void *ctx;
};

/* The same, after a fence: earlier writes must be visible to all CPUs before the question whether
 * walkers are outside. */
static inline bool unwind_memory_quiet(const struct unwind_memory *memory)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return memory->quiet(memory->ctx);
}

/* Values of "seconds" are in nanoseconds. */
#define UNWINDER_STATS(STAT)                                                                       \
	STAT(tables, gauge, "Unwind tables of executable files, or of pieces of them")             \
	STAT(tables_pending, gauge, "Unwind tables that are needed but not built yet")             \
	STAT(tables_without, gauge,                                                                \
	     "Executable files or pieces without a table because they describe no frames or are "  \
	     "too large")                                                                          \
	STAT(rows, gauge, "Rows in unwind tables")                                                 \
	STAT(table_bytes, gauge, "Bytes of unwind tables in use")                                  \
	STAT(table_bytes_max, gauge, "Bytes that unwind tables may use")                           \
	STAT(table_numbers, gauge,                                                                 \
	     "Numbers of unwind tables in use: one for each executable file, or piece of it")      \
	STAT(table_numbers_max, gauge, "Numbers of unwind tables that may be in use")              \
	STAT(processes, gauge, "Processes whose mappings the walker knows")                        \
	STAT(mappings, gauge, "Mappings that the walker knows")                                    \
	STAT(tables_built, counter, "Unwind tables built")                                         \
	STAT(tables_failed, counter, "Unwind tables that could not be built")                      \
	STAT(tables_evicted, counter, "Unwind tables evicted to make room for others")             \
	STAT(build_seconds, seconds, "Time spent building unwind tables")                          \
	STAT(processes_refused, counter, "Processes and mappings that the walker had no room for") \
	STAT(mappings_cut, counter,                                                                \
	     "Mappings that the walker does not know because their process has more than 4096")

struct unwinder_stats {
#define STAT(name, type, help) uint64_t name;
	UNWINDER_STATS(STAT)
#undef STAT
};

/* The unwinder must be freed before the loop and the process table. NULL when out of memory. */
struct unwinder *unwinder_new(uv_loop_t *loop, struct procs *procs, struct store *store,
                              const struct unwind_memory *memory);
/* Accepts no more work; call unwinder_free() after the loop has ended. */
void unwinder_stop(struct unwinder *unwinder);
void unwinder_free(struct unwinder *unwinder);

/* Passes what the process table learned since the last call on to the walker. Called after
 * side-band records were read, so that a new process can be walked soon. All records up to
 * `told_mono_ns` have been read; a process that called exec after that is left out until the next
 * call. Also looks for tables that walks have missed, and starts building. Returns true while a
 * table is being built. */
bool unwinder_sync(struct unwinder *unwinder, uint64_t told_mono_ns);
/* Looks for tables to build at once, regardless of when it was last done: for tests. */
void unwinder_look(struct unwinder *unwinder);
void unwinder_get_stats(const struct unwinder *unwinder, struct unwinder_stats *ret_stats);
/* Adds the statistics of the reader processes that build tables. */
void unwinder_add_reader_stats(const struct unwinder *unwinder, struct reader_stats *stats);
