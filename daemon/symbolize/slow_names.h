/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct slow_names - asks about the files whose names were not there in time, with the long
 * deadline, on a thread and with a reader process of its own, so that no profile waits for them.
 * Their answers are taken by a later profile. Users take turns, and each has a share of the places.
 * One thread asks and takes (the render lane).
 */
#pragma once

#include "names/client.h"
#include "object/object.h"
#include "profile/builder.h"

enum {
	SLOW_MAX_FILES = 64,         /* that wait, are asked about, or whose answer was not taken */
	SLOW_MAX_FILES_OF_OWNER = 8, /* of those that wait, but for root's */
};

struct slow_names;

struct slow_question {
	uint64_t file;                 /* names it to the reader process; never reused */
	struct object *object, *debug; /* debug: may be NULL; both are referenced */
	int supplement;                /* the caller's; -1: none */
	const char *path;
	const uint64_t *addresses; /* ascending */
	size_t count;
};

/* Runs `program` when it is first needed, with `max_bytes` of memory; an answer has at most
 * `max_answer_bytes`. NULL when out of memory. */
struct slow_names *slow_names_new(const char *program, uint64_t max_bytes, size_t max_answer_bytes);
/* Waits for the thread, which is soon done after slow_names_cancel(). */
void slow_names_free(struct slow_names *slow);
DEFINE_CLEANUP(struct slow_names *, slow_names_free)

/* Keeps a copy. -EAGAIN when there is no place for it now, -ENOMEM, or why there is no thread. */
int slow_names_ask(struct slow_names *slow, const struct slow_question *question);
/* What was found: a profile without samples, which has a location for each address asked about, as
 * struct known_file keeps it. -EAGAIN when it is not there after `patience_ns`, -ENOENT when it was
 * not asked about; others are why there is none. An answer, or error, is told once. */
int slow_names_take(struct slow_names *slow, uint64_t file, uint64_t patience_ns,
                    struct builder **ret_answers);
/* Any thread: nothing is asked any more. */
void slow_names_cancel(struct slow_names *slow);
/* Adds them up; any thread. */
void slow_names_add_stats(const struct slow_names *slow, struct names_stats *stats);
