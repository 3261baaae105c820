/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct reader - the daemon's end of a reader process: starts it when it is first needed and again
 * after it died, and decides which file is to blame for a death. One thread at a time (a lane's),
 * and none that ends before the process; calls block that thread, for each answer at most for the
 * deadline.
 */
#pragma once

#include "base/cleanup.h"
#include "base/clock.h"
#include "reader/jobs.h"
#include "reader/process.h"

struct reader;

/* STAT(name, type, help); of a "seconds" the value is in nanoseconds. */
#define READER_STATS(STAT)                                                                     \
	STAT(starts, counter, "Times a process that reads files was started")                  \
	STAT(refused, counter, "Times none was asked: too many were killed and are not dead")  \
	STAT(crashes, counter, "Times it died over a file, or missed its deadline")            \
	STAT(disturbed, counter, "Times others killed or stopped it, or kept it from working") \
	STAT(late, counter, "Times an answer was not there as soon as it was wanted")          \
	STAT(files_failed, counter, "Files given up for that, at least in part")               \
	STAT(requests, counter, "Questions it was asked, each about one file")                 \
	STAT(busy_seconds, seconds, "Time spent waiting for its answers")

struct reader_stats {
#define STAT(name, type, help) uint64_t name;
	READER_STATS(STAT)
#undef STAT
};

/* This program, whatever has become of its file. */
#define READER_SELF "/proc/self/exe"

/* 0, or -EBADMSG for an answer that is not one to the question. */
typedef int reader_check_fn(const uint8_t *bytes, size_t len, void *ctx);

struct reader_query {
	struct reader_question question;
	uint64_t file;        /* the same for the same descriptors, never reused */
	bool no_file;         /* it is about none: nothing is given up */
	uint64_t deadline_ns; /* if it is earlier than the reader's; 0: that one */
	reader_check_fn *check;
	void *ctx;
};

/* The program's strings outlive the reader. NULL when out of memory. */
struct reader *reader_new(const struct reader_program *program);
void reader_free(struct reader *reader); /* ends the process */
DEFINE_CLEANUP(struct reader *, reader_free)
void reader_deadline(struct reader *reader, uint64_t ns); /* of one answer */
/* What a file has at first where many wait for the same reader: who needs more waits behind others.
 */
#define READER_FIRST_NS (5 * NSEC_PER_SEC)
/* From now on an answer that is not there after `ns` is nobody's fault: -ETIMEDOUT, and the file
 * may be asked about again. 0: the deadline holds. */
void reader_hurry(struct reader *reader, uint64_t ns);
/* Whose a file is here: of who mapped it first. Root's are then nobody's, so that nobody can keep
 * others from them by being the first. */
static inline uint64_t reader_user(uint32_t mapped_by, uint32_t owner)
{
	return owner == 0 && mapped_by != 0 ? 0 : READER_USER(mapped_by);
}
/* Whose the files are that it is asked about from now on; 0: nobody's. Over those of one user few
 * processes may hang: then -ECHILD for his, and others are asked about. */
void reader_of_user(struct reader *reader, uint64_t user);
/* Before the first question: its process opens files that are named by what it reads; of the others
 * none opens any, where the kernel has Landlock. */
void reader_let_names(struct reader *reader);
/* The same: its process loads libraries that open devices, see filter.h. */
void reader_let_devices(struct reader *reader);
/* The same: its process talks to servers and writes files. */
void reader_let_servers(struct reader *reader);
pid_t reader_pid(const struct reader *reader); /* 0: none runs */

/* The answer, checked; free() its bytes. A file over which the process dies, runs out of memory,
 * misses its deadline or says what makes no sense is given up for that job: -EIO then, and from
 * then on at once. It is asked about twice when the process had read other files before, for those
 * may have been why. -ECHILD says nothing of the file: the process cannot be started, or too many
 * linger, which is logged and not tried again for a second, later up to a minute; or it was killed
 * by others twice, or kept from working for the whole deadline, and then the file is not asked
 * about for a minute. Other errors: -ECANCELED, -ENOMEM; and what the process answered, which is
 * none of these and no -EAGAIN, -EBUSY, -EINTR, -EPIPE or -ETIMEDOUT: such an answer makes no
 * sense. */
int reader_ask(struct reader *reader, const struct reader_query *query,
               struct reader_reply *ret_reply);
/* The same of an answer that has one size, copied. The query's check has refused other lengths;
 * -EBADMSG when it has not. */
int reader_ask_fixed(struct reader *reader, const struct reader_query *query, void *ret,
                     size_t size);
/* Any thread: the question under way, and all later ones, end with -ECANCELED soon. */
void reader_cancel(struct reader *reader);
/* Ends the process when nobody has asked for `idle_ns`: it holds memory. */
void reader_rest(struct reader *reader, uint64_t idle_ns);
/* Adds them up; any thread. */
void reader_add_stats(const struct reader *reader, struct reader_stats *stats);
