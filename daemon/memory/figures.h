/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the kernel says about the memory of a process and of the host: the texts of /proc, read from
 * bytes. All pure; any thread. 0, or -EINVAL when it is no such text; results only on success. The
 * formats are those of proc(5).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a process, in bytes, under the names that readers see. RSS is the sum of the first three. */
#define MEMORY_FIGURES(FIGURE)                                                        \
	FIGURE(rss_anon)   /* private memory without a file: heaps, stacks */         \
	FIGURE(rss_file)   /* files that are mapped; can be read again, or written */ \
	FIGURE(rss_shmem)  /* memory shared without a file, or with one of a tmpfs */ \
	FIGURE(swap)       /* anonymous memory that was swapped out */                \
	FIGURE(heap_inuse) /* what its allocator has handed out, while that is watched */

#define FIGURE(name) MEMORY_##name,
enum memory_figure { MEMORY_FIGURES(FIGURE) MEMORY_FIGURE_COUNT };
#undef FIGURE

extern const char *const memory_figure_names[MEMORY_FIGURE_COUNT];

#define MEMORY_UNKNOWN UINT64_MAX /* a figure that nobody told */

struct memory_figures {
	uint64_t values[MEMORY_FIGURE_COUNT];
};

/* What it would take to hold it: RSS without files, and swap. What a leak is looked for in. */
uint64_t memory_held(const struct memory_figures *figures);
uint64_t memory_resident(const struct memory_figures *figures);

/* /proc/PID/statm, in pages: cheap to read, and enough to see that something has changed. */
struct memory_pages {
	uint64_t size, resident, shared;
};

/* /proc/PID/stat: who it is. */
struct memory_owner {
	char comm[16];
	bool kernel;          /* a thread of the kernel, which has no memory of its own */
	uint64_t start_ticks; /* since the boot; tells a pid that was given again */
};

struct memory_host {
	uint64_t total_bytes, available_bytes;
};

int memory_parse_statm(const char *bytes, size_t len, struct memory_pages *ret_pages);
/* -ENODATA when it has no memory: it is ending. */
int memory_parse_status(const char *bytes, size_t len, struct memory_figures *ret_figures);
int memory_parse_stat(const char *bytes, size_t len, struct memory_owner *ret_owner);
int memory_parse_pss(const char *bytes, size_t len, uint64_t *ret_bytes); /* smaps_rollup */
int memory_parse_host(const char *bytes, size_t len, struct memory_host *ret_host); /* meminfo */
/* The process that a thread is of, by the thread's status. */
int memory_parse_tgid(const char *bytes, size_t len, uint32_t *ret_pid);
