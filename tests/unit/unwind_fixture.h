/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The unwinder over ordinary memory in place of the shared memory, and what a walker finds there.
 */
#pragma once

#include "unwind/unwinder.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

enum {
	CHUNKS = 128,
	TABLES = 1024,
	MAPPINGS = 4096,
	SLOTS = 1024,
	PID = 4100000, /* no process has this pid or the following ones */
};

extern const struct file_key no_file;

extern struct unwind_fixture {
	uv_loop_t loop;
	struct store *store;
	struct procs *procs;
	struct unwind_memory memory; /* a test may make it smaller before the start */
	struct unwinder *unwinder;
	uint32_t epoch;
	uint32_t *chunks[CHUNKS];
	bool hidden[CHUNKS];
	bool is_quiet, has_memory;
	int asked; /* how often the unwinder asked whether all is quiet */
} fixture;

void fixture_set_up(void);
void fixture_tear_down(void);

/* A file of the store with a function in each of that many pieces. */
struct object *fixture_open_file(uint32_t pieces);

void fixture_start(void);
void fixture_sync_now(void);
/* Runs until nothing is left to be built. */
void fixture_build_all(void);
struct unwinder_stats fixture_stats(void);

/* Tables alone, without an unwinder. */
struct tables *fixture_new_tables(void);
struct unwinder_stats fixture_stats_of(const struct tables *tables);
/* Calls tables_look(), and waits for what is being built. */
void fixture_look(struct tables *tables, uint32_t epoch);
void fixture_end_tables(struct tables *tables);

/* The mappings of this process, which the process table then knows. */
const struct mapping_set *fixture_own_mappings(void);

/* What the walker finds; 0 or NULL: nothing. */
uint64_t fixture_slot_of(uint32_t pid);
uint32_t fixture_first_of(uint64_t slot);
const struct unwind_mapping *fixture_find_mapping(uint32_t pid, uint64_t address);
/* The words of a table; the number of chunks that a walker sees. */
uint32_t *fixture_words(uint32_t base);
size_t fixture_chunks(void);
void fixture_drop_chunks(void);
/* The number of the table of an address in a mapping. */
uint32_t fixture_number(const struct unwind_mapping *mapping, uint64_t address);
/* The operation at an own address of an executable file that has the table with this number. */
uint32_t fixture_find_op(uint32_t id, uint64_t own);
