/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct names_client - asks a reader process for names. For one thread at a time (the render
 * lane), which must outlive the process. Calls block that thread, for each answer at most until the
 * deadline.
 */
#pragma once

#include "base/cleanup.h"
#include "names/named_file.h"
#include "names/readable.h"
#include "reader/reader.h"

struct names_client;

/* STAT(name, type, help) */
#define NAMES_STATS(STAT)                                                                         \
	READER_STATS(STAT)                                                                        \
	STAT(addresses, counter, "Addresses whose names were requested")                          \
	STAT(mangled_failed, counter,                                                             \
	     "Mangled names shown as they are because a reader process failed over them")         \
	STAT(mangled_left, counter,                                                               \
	     "Mangled names shown as they are because they were too long or too many, or got no " \
	     "answer")

struct names_stats {
#define STAT(name, type, help) uint64_t name;
	NAMES_STATS(STAT)
#undef STAT
};

struct names_query {
	uint64_t file;             /* a number for these descriptors; never reused for others */
	int fds[FILE_COUNT];       /* owned by the caller; the process gets and keeps duplicates */
	const uint64_t *addresses; /* ascending */
	size_t count;
	bool lines; /* use DWARF as well */
};

/* Runs `program` (READER_SELF: this program) with `max_bytes` of memory. NULL when out of
 * memory. */
struct names_client *names_client_new(const char *program, uint64_t max_bytes);
/* The same, with the process name profd-NAME. */
struct names_client *names_client_new_as(const char *program, const char *name, uint64_t max_bytes);
void names_client_free(struct names_client *client); /* ends the process */
DEFINE_CLEANUP(struct names_client *, names_client_free)
void names_client_deadline(struct names_client *client, uint64_t ns); /* of one answer */
/* From now on a call that takes longer than `ns` ends with -ETIMEDOUT, which is not counted as a
 * failure of the file; see reader_hurry(). 0: only the deadline applies. Does not affect
 * names_client_readable(). */
void names_client_hurry(struct names_client *client, uint64_t ns);
pid_t names_client_pid(const struct names_client *client); /* 0: no process runs */
/* The reader, for other questions about the same files by the same thread. */
struct reader *names_client_reader(struct names_client *client);

/* Calls fn with the frames of the addresses, as named_file_find() does, and with the readable names
 * of their functions when these are available. When the process dies or exceeds its deadline, the
 * question is asked again without lines; when that fails too, the file is given up: -EIO then and,
 * without a delay, for all later calls. Other errors: -ENOEXEC, what fn returned, and those of
 * reader_ask(). fn is only called once the whole answer was received and checked. */
int names_client_find(struct names_client *client, const struct names_query *query,
                      source_frame_fn *fn, void *ctx);
/* Readable forms of names that do not come from a file; see readable_ask(). */
int names_client_readable(struct names_client *client, const char *const *names, size_t count,
                          struct readable *ret_readable);
/* Any thread: the current question and all later ones end soon, with -ECANCELED. */
void names_client_cancel(struct names_client *client);
/* Ends the process, which holds memory, after `idle_ns` without a question. */
void names_client_rest(struct names_client *client, uint64_t idle_ns);
/* Adds the client's statistics to `stats`; any thread. */
void names_client_add_stats(const struct names_client *client, struct names_stats *stats);
void names_client_get_stats(const struct names_client *client,
                            struct names_stats *ret_stats); /* any thread */
