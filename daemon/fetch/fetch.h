/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct fetch - debug files from debuginfod servers. Downloads run one after the other, each in a
 * process of its own for which a thread waits, so that no answer ever waits for a server: a caller
 * gets the files that have arrived. A file that the servers do not have is not requested again for
 * an hour; one for which an account (base/accounts.h) had no bytes or no room left is not requested
 * again by that account only.
 */
#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

struct fetch;

/* STAT(name, type, help) */
#define FETCH_STATS(STAT)                                                                 \
	STAT(waiting, gauge, "Debug files requested and not downloaded yet")              \
	STAT(fetched, counter, "Debug files downloaded")                                  \
	STAT(missing, counter, "Debug files that no server had or sent in time")          \
	STAT(lost, counter, "Downloads that failed because their process ended")          \
	STAT(refused, counter, "Debug files not requested because too many were waiting") \
	STAT(over_budget, counter,                                                        \
	     "Debug files not downloaded because their user's hourly budget was used up") \
	STAT(not_kept, counter,                                                           \
	     "Debug files removed after their download because there was no room")        \
	STAT(received_bytes, counter,                                                     \
	     "Bytes received from servers, including those of failed downloads")          \
	STAT(cache_files, gauge, "Debug files kept on disk")                              \
	STAT(cache_bytes, gauge, "Size of the debug files on disk")                       \
	STAT(cache_evicted, counter, "Debug files removed from disk to make room for others")

struct fetch_stats {
#define STAT(name, type, help) uint64_t name;
	FETCH_STATS(STAT)
#undef STAT
};

struct fetch_config {
	const char *program; /* program of the reader processes, such as READER_SELF */
	const char *servers; /* URLs separated by blanks */
	uint64_t max_bytes;  /* of files on disk */
};

/* Whether libdebuginfod is installed and has the functions that are needed. Loads it, so the daemon
 * must not call this. */
bool fetch_possible(void);
/* The strings must outlive the result. -ENOMEM, -EAGAIN, or the reason why files cannot be kept.
 * Without libdebuginfod a warning is logged a moment later, and nothing is fetched. */
int fetch_new(const struct fetch_config *config, struct fetch **ret_fetch);
/* Cancels the current download. */
void fetch_free(struct fetch *fetch); /* takes NULL */
DEFINE_CLEANUP(struct fetch *, fetch_free)

/* The debug file of a build ID, for a file of that user: a descriptor that the caller owns;
 * -EINPROGRESS when the file is being fetched, -ENOENT when no server has it or it could not be
 * fetched for that user within the hour, -EAGAIN when too many files are waiting, -EDQUOT when the
 * user's budget is used up, -EINVAL, -ENOMEM. Any thread. */
int fetch_debug(struct fetch *fetch, const char *build_id, uint32_t owner);
void fetch_get_stats(struct fetch *fetch, struct fetch_stats *ret_stats); /* any thread */
