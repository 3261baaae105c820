/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct unwind_memory - the memory that the unwinder shares with the kernel's walker, all zero at
 * first; it outlives the unwinder. Entry 0 of tables and of mappings is not used.
 */
#pragma once

#include "bpf/unwind_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
