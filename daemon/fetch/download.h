/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct downloads - the daemon's end of downloading: asks a process that lives for one file only,
 * so that what one server has done to it is gone with it, and checks what came. One thread, that of
 * fetch.c; but canceling.
 */
#pragma once

#include "base/cleanup.h"

#include <stdint.h>

struct downloads;

struct downloaded {
	uint64_t max_bytes; /* given: no more is wanted */
	uint64_t received;  /* also where it went wrong, unless with the process */
	uint64_t written;
};

/* Takes over the descriptor of the folder to work in; the strings outlive it. NULL: out of memory.
 */
struct downloads *downloads_new(const char *program, const char *servers, int room);
void downloads_free(struct downloads *downloads); /* takes NULL */
DEFINE_CLEANUP(struct downloads *, downloads_free)
/* Any thread: what is under way, and all later ones, end with -ECANCELED soon. */
void downloads_cancel(struct downloads *downloads);

/* Whether a process can do it: 0, -ELIBACC without libdebuginfod, or why nothing is known. */
int downloads_try(struct downloads *downloads);
/* Into the file, whose descriptor is taken over. 0: it is there, has this build ID, and nobody else
 * can write into it any more. -EIO or -ECHILD: its process has ended; -ECANCELED; -ENOENT: no
 * server has it; -EFBIG: it is larger than that; -EBADMSG: it is another file; -EREMOTEIO: it did
 * not come. */
int downloads_run(struct downloads *downloads, const char *build_id, int into,
                  struct downloaded *download);
