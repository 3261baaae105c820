/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What /proc tells about processes, for those that were there before us and when side-band records
 * were lost.
 */
#pragma once

#include "base/buf.h"
#include "proc/proc.h"

/* Calls fn for every pid in /proc; stops when it returns non-zero and returns that. */
typedef int scan_fn(uint32_t pid, void *ctx);
int scan_all(scan_fn *fn, void *ctx);

/* The file that was found last: of neighbouring mappings it is mostly the same. */
struct found {
	struct file_key key; /* inode 0: none */
	uint32_t id;
};

/* What finds the file of a mapping, and bounds how many there are. */
struct finder {
	struct store *store;
	struct opener *opener;     /* NULL: files are opened at once, however long that takes */
	struct mapping_room *room; /* NULL: there is no bound */
	struct found *last;        /* between procs_hold() and procs_release(); NULL: look */
};

/* What /proc says of one process. */
struct scan_text {
	char comm[COMM_BYTES];
	struct buf maps; /* in the format of /proc/PID/maps */
};

void scan_text_release(struct scan_text *text);
/* Reads it; any thread. Waits for whoever changes the mappings of that process. -ESRCH when it is
 * gone. */
int scan_read(uint32_t pid, struct scan_text *ret_text);
/* Fills the image's name and mappings with that, replacing what it had. */
int scan_apply(const struct finder *finder, uint32_t pid, const struct scan_text *text,
               struct image *image);
/* Adds one mapping, its object looked up. */
int scan_map(const struct finder *finder, uint32_t pid, struct image *image,
             struct proc_mapping *mapping, const struct file_key *key, const char *path);
bool scan_exists(uint32_t pid);
uint32_t scan_threads(uint32_t pid); /* 0 when it is gone */
