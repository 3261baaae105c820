/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Decides which file caused a failure. A process that has read other files before may have died of
 * their data, so its last file is tried once more in a new process, and never again after that. A
 * failure that other processes caused is not attributed to a file.
 */
#include "reader/reader.h"

#include "base/log.h"
#include "reader/lingering.h"

#include <errno.h>
#include <string.h>

enum {
	DEADLINE_SECONDS = 30, /* the DWARF of a browser takes 10 */
	LONGEST_TIMES = 4,     /* the deadline, where the process waits for a CPU */
	MAX_FAILED_FILES = 1024,
	/* How long a file is not asked about after its process was disturbed: a minute. Otherwise a
	 * file whose processes are killed for lack of memory would cost a process each time. Twice
	 * as long each time that the process waited for a CPU, up to an hour: a user can both have
	 * a file that takes for ever and keep the CPUs busy. */
	ASIDE_TIMES = 2, /* the deadline */
	MAX_DOUBLINGS = 6,
};

/* The time between attempts to start a process after a failure; it doubles each time. */
static const uint64_t first_wait_ns = NSEC_PER_SEC, longest_wait_ns = 60 * NSEC_PER_SEC;

struct failed_file {
	uint64_t file;
	uint32_t jobs;     /* bit mask of the jobs that it is given up for */
	uint64_t until_ns; /* until then it is put aside for all jobs */
	bool late;         /* because its process did nothing until the deadline */
	uint8_t starved;   /* how often its process waited for a CPU, since it was last answered */
};
_Static_assert(READER_JOB_COUNT <= 32, "a bit each");

struct reader {
	struct reader_program program;
	uint64_t deadline_ns, hurry_ns; /* hurry_ns: 0 for none */
	uint64_t longest_ns;            /* 0: a multiple of the deadline */
	uint64_t user;                  /* READER_USER() of the files; 0: no user */
	struct reader_process process;
	int start_error;            /* of the last start, logged once; 0: none */
	uint64_t wait_ns, retry_ns; /* wait_ns: 0 after a successful start; retry_ns: next start */
	bool used;                  /* the process has answered before */
	uint64_t last_asked_ns;
	struct failed_file failed[MAX_FAILED_FILES]; /* a ring: the oldest entry is overwritten */
	size_t failed_count;
	struct reader_stats stats; /* written by the reader's thread, read by any */
};

struct reader *reader_new(const struct reader_program *program)
{
	struct reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->program = *program;
	reader->deadline_ns = DEADLINE_SECONDS * NSEC_PER_SEC;
	return reader;
}

void reader_free(struct reader *reader)
{
	if (!reader)
		return;
	reader_process_stop(&reader->process);
	free(reader);
}

void reader_deadline(struct reader *reader, uint64_t ns)
{
	reader->deadline_ns = ns;
}

void reader_longest(struct reader *reader, uint64_t ns)
{
	reader->longest_ns = ns;
}

void reader_hurry(struct reader *reader, uint64_t ns)
{
	reader->hurry_ns = ns;
}

void reader_of_user(struct reader *reader, uint64_t user)
{
	reader->user = user;
}

void reader_let_names(struct reader *reader)
{
	reader->process.way = WAY_NAMES;
}

void reader_let_devices(struct reader *reader)
{
	reader->process.way = WAY_DEVICES;
}

void reader_let_servers(struct reader *reader)
{
	reader->process.way = WAY_SERVERS;
}

pid_t reader_pid(const struct reader *reader)
{
	return reader->process.pid;
}

static void add(uint64_t *stat, uint64_t value)
{
	__atomic_fetch_add(stat, value, __ATOMIC_RELAXED);
}

static struct failed_file *find_failed(struct reader *reader, uint64_t file)
{
	size_t count =
		reader->failed_count < MAX_FAILED_FILES ? reader->failed_count : MAX_FAILED_FILES;

	for (size_t i = 0; i < count; i++) {
		if (reader->failed[i].file == file)
			return &reader->failed[i];
	}
	return NULL;
}

/* 0: the file may be asked about. */
static int check_failed(struct reader *reader, const struct reader_query *query)
{
	const struct failed_file *failed = find_failed(reader, query->file);

	if (query->no_file || !failed)
		return 0;
	if (failed->jobs & 1U << query->question.job)
		return -EIO;
	return clock_mono_ns() < failed->until_ns ? -ECHILD : 0;
}

static struct failed_file *note_failed(struct reader *reader, uint64_t file)
{
	struct failed_file *failed = find_failed(reader, file);

	if (!failed) {
		failed = &reader->failed[reader->failed_count++ % MAX_FAILED_FILES];
		*failed = (struct failed_file){.file = file};
	}
	return failed;
}

static void give_up(struct reader *reader, const struct reader_query *query)
{
	if (query->no_file)
		return;
	struct failed_file *failed = note_failed(reader, query->file);

	add(&reader->stats.files_failed, !failed->jobs);
	failed->jobs |= 1U << query->question.job;
}

/* Whether this is the second time that a process did nothing over this file until the deadline: one
 * that was taken over, or is blocked in a file system, behaves so. Also true for a question that is
 * not about a file: such a question is never put aside. */
static bool is_repeated(struct reader *reader, const struct reader_query *query)
{
	const struct failed_file *failed = find_failed(reader, query->file);

	return query->no_file || (failed && failed->late);
}

static void put_aside(struct reader *reader, const struct reader_query *query, int err)
{
	if (query->no_file)
		return;
	struct failed_file *failed = note_failed(reader, query->file);
	unsigned int doublings = err == -EBUSY ? failed->starved : 0;

	failed->until_ns = clock_mono_ns() + (ASIDE_TIMES * reader->deadline_ns << doublings);
	failed->late |= err == -ETIME;
	failed->starved += err == -EBUSY && failed->starved < MAX_DOUBLINGS;
}

static void note_answer(struct reader *reader, const struct reader_query *query)
{
	struct failed_file *failed = query->no_file ? NULL : find_failed(reader, query->file);

	if (failed)
		failed->starved = 0;
}

static void wait_longer(struct reader *reader)
{
	uint64_t longer = reader->wait_ns ? 2 * reader->wait_ns : first_wait_ns;

	reader->wait_ns = longer < longest_wait_ns ? longer : longest_wait_ns;
	reader->retry_ns = clock_mono_ns() + reader->wait_ns;
}

static const char *why_not(int err)
{
	return err == -EBUSY ? "too many killed reader processes have not exited yet"
	                     : strerror(-err);
}

static int start(struct reader *reader)
{
	if (reader->process.pid)
		return 0;
	if (clock_mono_ns() < reader->retry_ns)
		return -ECHILD;
	int err = reader_process_start(&reader->process, &reader->program,
	                               clock_mono_ns() + reader->deadline_ns);
	if (err == -ECANCELED)
		return err;
	if (err < 0) {
		if (err != reader->start_error)
			log_warning("cannot start the reader process profd-%s: %s; profd continues "
			            "without it",
			            reader->program.name, why_not(err));
		add(&reader->stats.refused, err == -EBUSY);
		reader->start_error = err;
		wait_longer(reader);
		return -ECHILD;
	}
	reader->start_error = 0;
	reader->wait_ns = 0;
	reader->used = false;
	add(&reader->stats.starts, 1);
	return 0;
}

/* Whether the process failed, and not the daemon. */
static bool is_failure(int err)
{
	return err == -EPIPE || err == -ETIMEDOUT || err == -EBADMSG;
}

/* Whether neither of them failed. */
static bool is_disturbance(int err)
{
	return err == -EOWNERDEAD || err == -ETIME || err == -EBUSY;
}

/* Errors that only the daemon can produce. A process that works correctly never sends them; one
 * that was taken over may send them to imitate the daemon. */
static bool is_ours_to_say(int error)
{
	return error == -ECHILD || error == -ECANCELED || error == -ETIMEDOUT || error == -EIO ||
	       error == -EPIPE || error == -EBUSY || error == -EAGAIN || error == -EINTR;
}

/* Checks that the reply is an answer to the question. */
static int check(const struct reader_query *query, struct reader_reply *reply)
{
	int err = 0;

	/* A process that runs out of memory is treated as dead. */
	if (reply->error == -ENOMEM)
		err = -EPIPE;
	else if (is_ours_to_say(reply->error))
		err = -EBADMSG;
	else if (!reply->error)
		err = query->check(reply->bytes, reply->len, query->ctx);
	if (err < 0)
		free(reply->bytes);
	return err;
}

/* Waits for a CPU count where somebody waits for the answer, and where no file would be given up.
 */
static struct reader_time time_for(const struct reader *reader, const struct reader_query *query)
{
	uint64_t ns = reader->hurry_ns ?: reader->deadline_ns;

	if (query->deadline_ns && query->deadline_ns < ns)
		ns = query->deadline_ns;
	if (reader->hurry_ns || query->deadline_ns || query->no_file)
		return (struct reader_time){.ns = ns};
	return (struct reader_time){ns, reader->longest_ns ?: LONGEST_TIMES * ns};
}

/* -EIO when the process failed over this file, -EAGAIN when another file may have been the cause;
 * -EOWNERDEAD, -ETIME and -EBUSY as reader_process_ask(); -ETIMEDOUT when hurry_ns is exceeded. */
static int ask_once(struct reader *reader, const struct reader_query *query,
                    struct reader_reply *ret_reply)
{
	if (__atomic_load_n(&reader->process.cancelled, __ATOMIC_RELAXED))
		return -ECANCELED;
	const struct reader_time time = time_for(reader, query);
	int err = start(reader);
	bool used = reader->used;

	/* An error so far does not concern the file. */
	if (err < 0)
		return err;
	reader->process.user = reader->user;
	err = reader_process_ask(&reader->process, &query->question, &time, ret_reply);
	if (err == 0)
		err = check(query, ret_reply);
	reader->used = true;
	/* A process that waits for a device or a server uses no CPU time, but still misses its
	 * deadline by itself. */
	if (err == -ETIME && reader_loads_libraries(reader->process.way))
		err = -ETIMEDOUT;
	if (err == 0)
		return 0;
	reader_process_stop(&reader->process);
	if (reader->hurry_ns && (err == -ETIMEDOUT || err == -ETIME)) {
		add(&reader->stats.late, 1);
		return -ETIMEDOUT;
	}
	add(&reader->stats.disturbed, is_disturbance(err));
	if (!is_failure(err))
		return err;
	add(&reader->stats.crashes, 1);
	return used && err != -ETIMEDOUT ? -EAGAIN : -EIO;
}

int reader_ask(struct reader *reader, const struct reader_query *query,
               struct reader_reply *ret_reply)
{
	uint64_t begun = clock_mono_ns();
	struct reader_reply reply;

	int err = check_failed(reader, query);

	if (err < 0)
		return err;
	if (lingering_over(reader->program.name, reader->user)) {
		add(&reader->stats.refused, 1);
		return -ECHILD;
	}
	err = ask_once(reader, query, &reply);
	if (err == -EAGAIN || err == -EOWNERDEAD)
		err = ask_once(reader, query, &reply);
	reader->last_asked_ns = clock_mono_ns();
	add(&reader->stats.requests, 1);
	add(&reader->stats.busy_seconds, reader->last_asked_ns - begun);
	if (err == -ETIME && is_repeated(reader, query))
		err = -EIO;
	if (err == -EIO)
		give_up(reader, query);
	if (is_disturbance(err)) {
		put_aside(reader, query, err);
		return -ECHILD;
	}
	if (err < 0)
		return err;
	note_answer(reader, query);
	if (reply.error) {
		free(reply.bytes);
		return reply.error;
	}
	*ret_reply = reply;
	return 0;
}

int reader_ask_fixed(struct reader *reader, const struct reader_query *query, void *ret,
                     size_t size)
{
	struct reader_reply reply;
	int err = reader_ask(reader, query, &reply);

	if (err < 0)
		return err;
	if (reply.len == size)
		memcpy(ret, reply.bytes, size);
	else
		err = -EBADMSG;
	free(reply.bytes);
	return err;
}

void reader_cancel(struct reader *reader)
{
	__atomic_store_n(&reader->process.cancelled, true, __ATOMIC_RELAXED);
}

void reader_rest(struct reader *reader, uint64_t idle_ns)
{
	if (clock_mono_ns() - reader->last_asked_ns >= idle_ns)
		reader_process_stop(&reader->process);
}

void reader_add_stats(const struct reader *reader, struct reader_stats *stats)
{
#define STAT(name, type, help) \
	stats->name += __atomic_load_n(&reader->stats.name, __ATOMIC_RELAXED);
	READER_STATS(STAT)
#undef STAT
}
