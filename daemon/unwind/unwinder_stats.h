/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct unwinder_stats - what the parts of the unwinder count. Each part fills in its own.
 */
#pragma once

#include <stdint.h>

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
