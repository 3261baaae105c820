/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the kernel reports about the memory of a process and of the host: parsers of the texts of
 * /proc. All functions are pure; any thread. 0, or -EINVAL for malformed text; results are written
 * only on success. The formats are those of proc(5).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Figures of a process, in bytes, under the names that clients see. RSS is the sum of the first
 * three. */
#define MEMORY_FIGURES(FIGURE)                                                    \
	FIGURE(rss_anon)   /* private memory without a file: heaps, stacks */     \
	FIGURE(rss_file)   /* mapped files; can be read again, or written back */ \
	FIGURE(rss_shmem)  /* shared memory without a file, or of a tmpfs file */ \
	FIGURE(swap)       /* anonymous memory that was swapped out */            \
	FIGURE(heap_inuse) /* live allocations, while the process's heap is watched */

#define FIGURE(name) MEMORY_##name,
enum memory_figure { MEMORY_FIGURES(FIGURE) MEMORY_FIGURE_COUNT };
#undef FIGURE

extern const char *const memory_figure_names[MEMORY_FIGURE_COUNT];

#define MEMORY_UNKNOWN UINT64_MAX /* the value of a figure that is not known */

struct memory_figures {
	uint64_t values[MEMORY_FIGURE_COUNT];
};

/* The memory that a process holds: RSS without files, and swap. Leaks are looked for in this
 * sum. */
uint64_t memory_held(const struct memory_figures *figures);
uint64_t memory_resident(const struct memory_figures *figures);

/* /proc/PID/statm, in pages: cheap to read, and enough to detect a change. */
struct memory_pages {
	uint64_t size, resident, shared;
};

/* From /proc/PID/stat: which process it is. */
struct memory_owner {
	char comm[16];
	bool kernel;          /* a kernel thread, which has no memory of its own */
	uint64_t start_ticks; /* since boot; distinguishes processes that had the same pid */
};

struct memory_host {
	uint64_t total_bytes, available_bytes;
};

int memory_parse_statm(const char *bytes, size_t len, struct memory_pages *ret_pages);
/* -ENODATA when the process has no address space: it is ending. */
int memory_parse_status(const char *bytes, size_t len, struct memory_figures *ret_figures);
int memory_parse_stat(const char *bytes, size_t len, struct memory_owner *ret_owner);
int memory_parse_pss(const char *bytes, size_t len, uint64_t *ret_bytes); /* smaps_rollup */
int memory_parse_host(const char *bytes, size_t len, struct memory_host *ret_host); /* meminfo */
/* The process of a thread, from the thread's status file. */
int memory_parse_tgid(const char *bytes, size_t len, uint32_t *ret_pid);
