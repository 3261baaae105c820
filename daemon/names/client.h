/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct names_client - the daemon's end of the names process: starts it when it is first needed,
 * again after it died, and stops it when it has not been asked for a while. One thread at a time
 * (the render lane), which must outlive the process; calls block that thread, for each answer at
 * most for the deadline.
 */
#pragma once

#include "base/cleanup.h"
#include "names/named_file.h"

#include <sys/types.h>

struct names_client;

/* NAMES_STAT(name, type, help) */
#define NAMES_STATS(STAT)                                                                         \
	STAT(starts, counter, "Times the process that reads names was started")                   \
	STAT(crashes, counter, "Times it died over a file, or was killed over its deadline")      \
	STAT(files_failed, counter, "Files whose names, or source lines, were given up for that") \
	STAT(requests, counter, "Files it was asked about")                                       \
	STAT(addresses, counter, "Addresses it was asked about")                                  \
	STAT(busy_seconds, seconds, "Time spent waiting for its answers")

struct names_stats {
#define STAT(name, type, help) uint64_t name;
	NAMES_STATS(STAT)
#undef STAT
};

struct names_query {
	uint64_t file;             /* the same for the same descriptors, never reused */
	int fds[FILE_COUNT];       /* the caller's; the process gets its own and keeps some open */
	const uint64_t *addresses; /* ascending */
	size_t count;
	bool lines; /* DWARF too */
};

/* Runs `program` (a path; "/proc/self/exe" for this one) with `max_bytes` of memory. NULL when out
 * of memory. */
struct names_client *names_client_new(const char *program, uint64_t max_bytes);
void names_client_free(struct names_client *client); /* ends the process */
DEFINE_CLEANUP(struct names_client *, names_client_free)
void names_client_deadline(struct names_client *client, uint64_t ns); /* of one answer */
pid_t names_client_pid(const struct names_client *client);            /* 0: none runs */

/* Frames of the addresses, as named_file_find() tells them. A file over which the process dies or
 * exceeds its deadline is asked again without lines, and given up when that fails too: -EIO then,
 * and from then on at once. Other errors: -ENOEXEC, -ENOMEM, what fn returned, or why the process
 * cannot be started. fn is only called once the whole answer is there and was found well formed. */
int names_client_find(struct names_client *client, const struct names_query *query,
                      source_frame_fn *fn, void *ctx);
/* Any thread: the question under way, and all later ones, end with -ECANCELED soon. */
void names_client_cancel(struct names_client *client);
/* Ends the process when nobody has asked for `idle_ns`: it holds memory. */
void names_client_rest(struct names_client *client, uint64_t idle_ns);
void names_client_get_stats(const struct names_client *client,
                            struct names_stats *ret_stats); /* any thread */
