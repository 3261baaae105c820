/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct file_answers - what a reader process said about executable files, by the object's id in
 * the store. Each file is asked about once, on a lane, one at a time; users take turns. Nearly
 * every answer is no. A file that is slow to read is asked about again after the others, with more
 * time. An error that says nothing about the file, such as that of a reader process that was
 * killed, is not kept: the file is asked about again when a process maps it. Nor is a file asked
 * about that the store has closed meanwhile, so questions that wait hold no file open. Bounded like
 * the store: there are at most twice as many answers as the store may have objects, with a share
 * for each user, and an eighth for root; when a share is used up, the answers of closed objects are
 * forgotten. Loop thread only, except for ask().
 */
#pragma once

#include "base/cleanup.h"
#include "base/lane.h"
#include "base/table.h"
#include "object/store.h"
#include "reader/reader.h"

#include <stdbool.h>

/* The first member of a question's own struct. */
struct file_answer {
	struct job job;
	struct file_answers *answers;
	UT_hash_handle hh;
	struct object *object; /* NULL, except for ask(), answered(), and if that keeps it */
	uint32_t id;
	uint32_t user; /* the object's */
	bool is_pending;
	bool is_late; /* the second time */
	int error;    /* of ask() */
};

struct file_question {
	size_t answer_bytes; /* of the question's own struct */
	/* On the lane: asks about the object. 0 or a negative errno. A slow file is asked about
	 * twice, so a failure must leave nothing behind. */
	int (*ask)(struct reader *reader, struct file_answer *answer);
	/* Called after that, for an answer that is kept. Whether the object is to stay open as long
	 * as the answer is kept. */
	bool (*answered)(struct file_answer *answer, void *ctx);
	/* Called after the last open question was answered. May be NULL. */
	void (*idle)(void *ctx);
	/* Called when there may be room again after file_answers_get() found none; now and then, so
	 * that a caller may look at all processes that wait. May be NULL. */
	void (*room)(void *ctx);
	/* Whether the answer is in use, and must be kept. NULL: never. */
	bool (*is_held)(const struct file_answer *answer);
	/* Releases what the struct has of its own, before it is freed. May be NULL. */
	void (*release)(struct file_answer *answer, void *ctx);
};

/* The lane, its reader and the store outlive the answers. The lane's other jobs are for no user,
 * and go first. NULL when out of memory. */
struct file_answers *file_answers_new(const struct file_question *question, struct lane *lane,
                                      struct reader *reader, struct store *store, void *ctx);
void file_answers_free(struct file_answers *answers); /* once the lane is idle; takes NULL */
DEFINE_CLEANUP(struct file_answers *, file_answers_free)

/* The answer for an object. While `is_pending`, it is not known yet. NULL: the object is closed, or
 * there is no room, so call again later: nothing is known. */
struct file_answer *file_answers_get(struct file_answers *answers, uint32_t id);
/* How often there was no room. */
uint64_t file_answers_put_off(const struct file_answers *answers);
