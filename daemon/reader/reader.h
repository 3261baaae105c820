/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct reader - the daemon's side of a reader process: starts the process when it is first needed
 * and again after it died, and decides which file caused a failure. For one thread at a time, that
 * of a lane, which must outlive the process. Calls block that thread, for each answer at most until
 * the deadline.
 */
#pragma once

#include "base/cleanup.h"
#include "base/clock.h"
#include "reader/jobs.h"
#include "reader/process.h"

struct reader;

/* STAT(name, type, help); values of type "seconds" are in nanoseconds. */
#define READER_STATS(STAT)                                                                    \
	STAT(starts, counter, "Reader processes started")                                     \
	STAT(refused, counter,                                                                \
	     "Questions refused because too many killed reader processes had not exited yet") \
	STAT(crashes, counter,                                                                \
	     "Reader processes that died, gave a malformed answer or missed their deadline")  \
	STAT(disturbed, counter,                                                              \
	     "Reader processes that others killed, stopped or kept from working")             \
	STAT(late, counter, "Questions given up for now because their answer took too long")  \
	STAT(files_failed, counter,                                                           \
	     "Files given up, at least in part, because reader processes failed over them")   \
	STAT(requests, counter, "Questions to reader processes, each about one file")         \
	STAT(busy_seconds, seconds, "Time spent waiting for answers of reader processes")

struct reader_stats {
#define STAT(name, type, help) uint64_t name;
	READER_STATS(STAT)
#undef STAT
};

/* This program, even if its file was replaced or removed. */
#define READER_SELF "/proc/self/exe"

/* 0, or -EBADMSG when the bytes are no valid answer to the question. */
typedef int reader_check_fn(const uint8_t *bytes, size_t len, void *ctx);

struct reader_query {
	struct reader_question question;
	uint64_t file;        /* a number for these descriptors; never reused for others */
	bool no_file;         /* not about a file: no file is given up */
	uint64_t deadline_ns; /* if shorter than the reader's; 0: the reader's */
	reader_check_fn *check;
	void *ctx;
};

/* The strings of `program` must outlive the reader. NULL when out of memory. */
struct reader *reader_new(const struct reader_program *program);
void reader_free(struct reader *reader); /* ends the process */
DEFINE_CLEANUP(struct reader *, reader_free)
void reader_deadline(struct reader *reader, uint64_t ns); /* of one answer */
/* The deadline does not count the time for which the process waits for a CPU, if the question is
 * about a file and there is no reader_hurry(); after `ns` in all, the answer is not waited for any
 * more. By default four times the deadline. */
void reader_longest(struct reader *reader, uint64_t ns);
/* The time of a first attempt when many files wait for the same reader; a file that needs more
 * waits behind the others. */
#define READER_FIRST_NS (5 * NSEC_PER_SEC)
/* From now on an answer that takes longer than `ns` is not counted as a failure of the file:
 * -ETIMEDOUT, and the file may be asked about again. 0: only the deadline applies. */
void reader_hurry(struct reader *reader, uint64_t ns);
/* The user that a file counts for: the user that first mapped it. A file of root that another user
 * mapped counts for no user, so that no user can keep others from root's files by mapping them
 * first. */
static inline uint64_t reader_user(uint32_t mapped_by, uint32_t owner)
{
	return owner == 0 && mapped_by != 0 ? 0 : READER_USER(mapped_by);
}
/* Sets the user of the files that it is asked about from now on; 0: no user. Only few processes may
 * hang over files of one user: beyond that, questions about files of that user fail with -ECHILD,
 * and those about other files do not. */
void reader_of_user(struct reader *reader, uint64_t user);
/* To be called before the first question: the process may open files that the files it reads refer
 * to. Without this it opens no files, when the kernel has Landlock. */
void reader_let_names(struct reader *reader);
/* The same: the process loads libraries that open devices; see filter.h. */
void reader_let_devices(struct reader *reader);
/* The same: the process talks to servers and writes files. */
void reader_let_servers(struct reader *reader);
pid_t reader_pid(const struct reader *reader); /* 0: no process runs */

/* Asks a question and checks the answer; the caller must free() its bytes. A file over which the
 * process dies, runs out of memory, misses its deadline or gives a malformed answer is given up for
 * that job: -EIO then and, without a delay, for all later questions. It is asked about twice when
 * the process had read other files before, because those may have been the cause.
 *
 * -ECHILD does not concern the file. Either the process cannot be started, or too many linger: this
 * is logged, and not tried again for a second, later up to a minute. Or the process was killed from
 * outside twice, or kept from working for the whole deadline: then the file is not asked about for
 * a minute. Or the CPUs were so busy that the process had none for as long as its deadline: then
 * for a minute, for two the next time, and so on up to an hour.
 *
 * Other errors: -ECANCELED, -ENOMEM, and the error that the process answers. That is none of the
 * above and not -EAGAIN, -EBUSY, -EINTR, -EPIPE or -ETIMEDOUT: such an answer counts as malformed.
 */
int reader_ask(struct reader *reader, const struct reader_query *query,
               struct reader_reply *ret_reply);
/* The same for an answer of fixed size, which is copied to `ret`. The query's check should refuse
 * other lengths; -EBADMSG when it does not. */
int reader_ask_fixed(struct reader *reader, const struct reader_query *query, void *ret,
                     size_t size);
/* Any thread: the current question and all later ones end soon, with -ECANCELED. */
void reader_cancel(struct reader *reader);
/* Ends the process, which holds memory, after `idle_ns` without a question. */
void reader_rest(struct reader *reader, uint64_t idle_ns);
/* Adds the reader's statistics to `stats`; any thread. */
void reader_add_stats(const struct reader *reader, struct reader_stats *stats);
