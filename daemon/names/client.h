/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct names_client - asks a reader process for names. One thread at a time (the render lane),
 * which must outlive the process; calls block that thread, for each answer at most for the
 * deadline.
 */
#pragma once

#include "base/cleanup.h"
#include "names/named_file.h"
#include "names/readable.h"
#include "reader/reader.h"

struct names_client;

/* STAT(name, type, help) */
#define NAMES_STATS(STAT)                                                                   \
	READER_STATS(STAT)                                                                  \
	STAT(addresses, counter, "Addresses whose names were asked for")                    \
	STAT(mangled_failed, counter, "Mangled names that it died over, shown as they are") \
	STAT(mangled_left, counter,                                                         \
	     "Mangled names shown as they are: too long, too many, no answer")

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

/* Runs `program` (READER_SELF for this one) with `max_bytes` of memory. NULL when out of memory. */
struct names_client *names_client_new(const char *program, uint64_t max_bytes);
/* The same under another name in lists of processes: profd-NAME. */
struct names_client *names_client_new_as(const char *program, const char *name, uint64_t max_bytes);
void names_client_free(struct names_client *client); /* ends the process */
DEFINE_CLEANUP(struct names_client *, names_client_free)
void names_client_deadline(struct names_client *client, uint64_t ns); /* of one answer */
/* From now on what takes longer than `ns` ends with -ETIMEDOUT, and is no file's fault, see
 * reader_hurry(). 0: the deadline holds. Not for names_client_readable(). */
void names_client_hurry(struct names_client *client, uint64_t ns);
pid_t names_client_pid(const struct names_client *client); /* 0: none runs */
/* For what else is asked about the same files by the same thread. */
struct reader *names_client_reader(struct names_client *client);

/* Frames of the addresses, as named_file_find() tells them, with the readable names of their
 * functions; where those cannot be had, without. A file over which the process dies or
 * exceeds its deadline is asked again without lines, and given up when that fails too: -EIO then,
 * and from then on at once. Other errors: -ENOEXEC, what fn returned, and reader_ask()'s. fn is
 * only called once the whole answer is there and was found well formed. */
int names_client_find(struct names_client *client, const struct names_query *query,
                      source_frame_fn *fn, void *ctx);
/* What names say that come from elsewhere than a file, see readable_ask(). */
int names_client_readable(struct names_client *client, const char *const *names, size_t count,
                          struct readable *ret_readable);
/* Any thread: the question under way, and all later ones, end with -ECANCELED soon. */
void names_client_cancel(struct names_client *client);
/* Ends the process when nobody has asked for `idle_ns`: it holds memory. */
void names_client_rest(struct names_client *client, uint64_t idle_ns);
/* Adds them up; any thread. */
void names_client_add_stats(const struct names_client *client, struct names_stats *stats);
void names_client_get_stats(const struct names_client *client,
                            struct names_stats *ret_stats); /* any thread */
