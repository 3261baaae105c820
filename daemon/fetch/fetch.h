/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct fetch - debug files from debuginfod servers. Downloads run one after the other, each in a
 * process of its own that a thread waits for, so that no answer ever waits for a server: who asks
 * gets what is there by now. What the servers do not have is not asked for again for an hour; what
 * one account (base/accounts.h) had no bytes or no room left for, only by that one.
 */
#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

struct fetch;

/* FETCH_STAT(name, type, help) */
#define FETCH_STATS(STAT)                                                                      \
	STAT(waiting, gauge, "Debug files asked for and not downloaded yet")                   \
	STAT(fetched, counter, "Debug files downloaded")                                       \
	STAT(missing, counter, "Debug files that no server had, or gave in time")              \
	STAT(lost, counter, "Downloads that ended with their process")                         \
	STAT(refused, counter, "Debug files not asked for: too many are waiting")              \
	STAT(over_budget, counter, "Debug files not asked for: enough of one user in an hour") \
	STAT(not_kept, counter, "Debug files downloaded and removed: there was no room")       \
	STAT(received_bytes, counter, "Bytes received from servers, also of what broke off")   \
	STAT(cache_files, gauge, "Debug files kept on disk")                                   \
	STAT(cache_bytes, gauge, "What they take of it")                                       \
	STAT(cache_evicted, counter, "Debug files removed from disk to make room for others")

struct fetch_stats {
#define STAT(name, type, help) uint64_t name;
	FETCH_STATS(STAT)
#undef STAT
};

struct fetch_config {
	const char *program; /* what a reader process is, such as READER_SELF */
	const char *servers; /* URLs separated by blanks */
	uint64_t max_bytes;  /* on disk */
};

/* Whether libdebuginfod is here and has what is needed of it. Loads it: not for the daemon. */
bool fetch_possible(void);
/* The strings outlive it. -ENOMEM, -EAGAIN, or why files cannot be kept. That there is no
 * libdebuginfod is logged a moment later, and nothing is fetched then. */
int fetch_new(const struct fetch_config *config, struct fetch **ret_fetch);
/* Breaks off what is under way. */
void fetch_free(struct fetch *fetch); /* takes NULL */
DEFINE_CLEANUP(struct fetch *, fetch_free)

/* The debug file of a build ID, for a file of that user: a descriptor of the caller's;
 * -EINPROGRESS when it is on its way, -ENOENT when no server has it or that user could not be given
 * it within the hour, -EAGAIN when too many are waiting, -EDQUOT when it was enough for that user
 * for now, -EINVAL, -ENOMEM. Any thread. */
int fetch_debug(struct fetch *fetch, const char *build_id, uint32_t owner);
void fetch_get_stats(struct fetch *fetch, struct fetch_stats *ret_stats); /* any thread */
