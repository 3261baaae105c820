/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct downloads - the daemon's side of downloading: asks a process that lives for one file only,
 * so that any damage by a server ends with the process, and verifies the file. Used by one thread,
 * that of fetch.c; any thread may cancel.
 */
#pragma once

#include "base/cleanup.h"

#include <stdint.h>

struct downloads;

struct downloaded {
	uint64_t max_bytes; /* set by the caller: the limit */
	uint64_t received;  /* also after an error, unless the process was lost */
	uint64_t written;
};

/* Takes ownership of the descriptor of the working folder; the strings must outlive the result.
 * NULL: out of memory. */
struct downloads *downloads_new(const char *program, const char *servers, int room);
void downloads_free(struct downloads *downloads); /* takes NULL */
DEFINE_CLEANUP(struct downloads *, downloads_free)
/* Any thread: the current download and all later ones soon end with -ECANCELED. */
void downloads_cancel(struct downloads *downloads);

/* Whether a process can download: 0, -ELIBACC without libdebuginfod, or the error that prevented
 * finding out. */
int downloads_try(struct downloads *downloads);
/* Downloads into the file `into`, whose descriptor it takes ownership of. 0: the file is complete,
 * has this build ID, and no other process can write to it any more. -EIO or -ECHILD: the process
 * has ended; -ECANCELED; -ENOENT: no server has the file; -EFBIG: it is larger than the limit;
 * -EBADMSG: it is another file; -EREMOTEIO: the download failed. */
int downloads_run(struct downloads *downloads, const char *build_id, int into,
                  struct downloaded *download);
