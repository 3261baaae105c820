/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct slow_names - asks about the files whose names were not ready in time, with the long
 * deadline, on a thread and with a reader process of its own, so that no profile waits for them. A
 * later profile takes the answers. Users take turns, and each has a share of the entries. Used by
 * one thread (the render lane).
 */
#pragma once

#include "names/client.h"
#include "object/object.h"
#include "profile/builder.h"

enum {
	SLOW_MAX_FILES = 64, /* that wait, are being asked about, or have an untaken answer */
	SLOW_MAX_FILES_OF_OWNER = 8, /* one owner's files without an answer; no limit for root */
};

struct slow_names;

struct slow_question {
	uint64_t file;                 /* identifies the file to the reader process; never reused */
	struct object *object, *debug; /* `debug` may be NULL; both get a reference */
	int supplement;                /* owned by the caller; -1: none */
	const char *path;
	const uint64_t *addresses; /* ascending */
	size_t count;
};

/* Runs `program` when it is first needed, with `max_bytes` of memory; an answer takes at most
 * `max_answer_bytes`. NULL when out of memory. */
struct slow_names *slow_names_new(const char *program, uint64_t max_bytes, size_t max_answer_bytes);
/* Waits for the thread, which ends soon after slow_names_cancel(). */
void slow_names_free(struct slow_names *slow);
DEFINE_CLEANUP(struct slow_names *, slow_names_free)

/* Copies the question. -EAGAIN when there is no room for it now, -ENOMEM, or the error of starting
 * the thread. */
int slow_names_ask(struct slow_names *slow, const struct slow_question *question);
/* Takes the answer: a profile without samples that has a location for each address asked about, as
 * in struct known_file. -EAGAIN when the answer is not ready after `patience_ns`, -ENOENT when the
 * file was not asked about; other errors: the reason why there is no answer. An answer or error can
 * be taken once. */
int slow_names_take(struct slow_names *slow, uint64_t file, uint64_t patience_ns,
                    struct builder **ret_answers);
/* Any thread: no further question is asked. */
void slow_names_cancel(struct slow_names *slow);
/* Adds the statistics to `stats`; any thread. */
void slow_names_add_stats(const struct slow_names *slow, struct names_stats *stats);
