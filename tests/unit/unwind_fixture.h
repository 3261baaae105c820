/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The unwinder over ordinary memory in place of the shared one, and what a walker would find there.
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
	PID = 4100000, /* nobody has it, or those after it */
};

extern const struct file_key no_file;

extern struct unwind_fixture {
	uv_loop_t loop;
	struct store *store;
	struct procs *procs;
	struct unwind_memory memory; /* a test may make it smaller before anything is started */
	struct unwinder *unwinder;
	uint32_t epoch;
	uint32_t *chunks[CHUNKS];
	bool hidden[CHUNKS];
	bool is_quiet, has_memory;
	int asked; /* how often that was asked */
} fixture;

void fixture_set_up(void);
void fixture_tear_down(void);

/* A file with a function in each of so many pieces, which the store has. */
struct object *fixture_open_file(uint32_t pieces);

void fixture_start(void);
void fixture_sync_now(void);
/* Until nothing is left to be built. */
void fixture_build_all(void);
struct unwinder_stats fixture_stats(void);

/* Tables alone, without an unwinder. */
struct tables *fixture_new_tables(void);
struct unwinder_stats fixture_stats_of(const struct tables *tables);
/* Looks, and waits for what is built. */
void fixture_look(struct tables *tables, uint32_t epoch);
void fixture_end_tables(struct tables *tables);

/* This process's, which the process table has read then. */
const struct mapping_set *fixture_own_mappings(void);

/* As the walker finds it: 0 or NULL for what is not there. */
uint64_t fixture_slot_of(uint32_t pid);
uint32_t fixture_first_of(uint64_t slot);
const struct unwind_mapping *fixture_find_mapping(uint32_t pid, uint64_t address);
/* Where a table's words are; how many chunks a walker sees. */
uint32_t *fixture_words(uint32_t base);
size_t fixture_chunks(void);
void fixture_drop_chunks(void);
/* The number of the table of an address in a mapping. */
uint32_t fixture_number(const struct unwind_mapping *mapping, uint64_t address);
/* The operation at an own address of an executable, which has a table. */
uint32_t fixture_find_op(uint32_t table, uint64_t own);
