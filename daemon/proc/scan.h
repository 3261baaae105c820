/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reads processes from /proc: those that started before the daemon, and all of them when side-band
 * records were lost.
 */
#pragma once

#include "base/buf.h"
#include "proc/image.h"

/* Calls fn for every pid in /proc; stops when it returns non-zero and returns that. */
typedef int scan_fn(uint32_t pid, void *ctx);
int scan_all(scan_fn *fn, void *ctx);

/* The result of the last lookups; neighbouring mappings mostly have the same file. */
struct found {
	struct file_key key; /* inode 0: none */
	uint32_t id;
	uint32_t opened_for; /* the process; 0: the file is known, whoever maps it */
	uint32_t pid, owner; /* owner_read() of that process; 0: none */
};

/* What scan_map() needs: it finds the files of mappings and bounds their memory. */
struct finder {
	struct store *store;
	struct opener *opener;     /* NULL: files are opened synchronously */
	struct mapping_room *room; /* NULL: no bound */
	struct found *last;        /* set between procs_hold() and procs_release() */
};

/* Of what /proc says about one process. */
enum { MAX_EXECUTABLE_BYTES = 8 * 1024 * 1024 };
struct scan_text {
	char comm[COMM_BYTES];
	struct buf maps; /* in the format of /proc/PID/maps; only executable mappings */
};

void scan_text_release(struct scan_text *text);
/* Reads it; any thread. Waits while the process changes its mappings. -ESRCH when the process is
 * gone; -EFBIG: its mappings are too many. */
int scan_read(uint32_t pid, struct scan_text *ret_text);
/* Replaces the image's name and mappings by those of the text. */
int scan_apply(const struct finder *finder, uint32_t pid, const struct scan_text *text,
               struct image *image);
/* Looks up the object of a mapping and adds the mapping to the image. */
int scan_map(const struct finder *finder, uint32_t pid, struct image *image,
             struct proc_mapping *mapping, const struct file_key *key, const char *path);
bool scan_exists(uint32_t pid);
uint32_t scan_threads(uint32_t pid); /* number of threads; 0 when the process is gone */
