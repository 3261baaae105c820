/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct fetch - debug files from debuginfod servers. Downloads run one after the other on a thread
 * of its own, so that no answer ever waits for a server: who asks gets what is there by now. What
 * the servers do not have is not asked for again for an hour. libdebuginfod, which also keeps the
 * files on disk, is loaded only when servers are configured.
 */
#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

struct fetch;

/* FETCH_STAT(name, type, help) */
#define FETCH_STATS(STAT)                                                         \
	STAT(waiting, gauge, "Debug files asked for and not downloaded yet")      \
	STAT(fetched, counter, "Debug files downloaded")                          \
	STAT(missing, counter, "Debug files that no server had, or gave in time") \
	STAT(refused, counter, "Debug files not asked for: too many are waiting")

struct fetch_stats {
#define STAT(name, type, help) uint64_t name;
	FETCH_STATS(STAT)
#undef STAT
};

/* Whether libdebuginfod is here and has what is needed of it. */
bool fetch_possible(void);
/* `servers` are URLs separated by blanks. -ENOENT when there is no libdebuginfod, -ENOMEM, -EAGAIN.
 * Sets the environment that the library reads: call before other threads are started. */
int fetch_new(const char *servers, struct fetch **ret_fetch);
/* Breaks off what is under way. */
void fetch_free(struct fetch *fetch); /* takes NULL */
DEFINE_CLEANUP(struct fetch *, fetch_free)

/* The debug file of a build ID: a descriptor of the caller's; -EINPROGRESS when it is on its way,
 * -ENOENT when no server has it, -EAGAIN when too many are waiting, -ENOMEM. Any thread. */
int fetch_debug(struct fetch *fetch, const char *build_id);
void fetch_get_stats(struct fetch *fetch, struct fetch_stats *ret_stats); /* any thread */
