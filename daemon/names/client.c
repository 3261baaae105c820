/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which file is to blame, and what is tried next. A process that has read other files before may
 * have died of what it held of them, or of somebody's hand, so its last file is tried in a new one;
 * then without source lines, for it is DWARF that goes wrong; then never again.
 */
#include "names/client.h"

#include "base/clock.h"
#include "base/log.h"
#include "names/process.h"

#include <errno.h>
#include <string.h>

enum {
	DEADLINE_SECONDS = 30, /* the DWARF of a browser takes 10 */
	MAX_FAILED_FILES = 1024,
};

struct failed_file {
	uint64_t file;
	bool given_up; /* else: its lines are */
};

struct names_client {
	char *program;
	uint64_t max_bytes, deadline_ns;
	struct names_process process;
	int start_error; /* the last one, said once; 0: none */
	bool used;       /* it has answered before */
	uint64_t last_asked_ns;
	struct failed_file
		failed[MAX_FAILED_FILES]; /* a ring: the oldest is tried again some day */
	size_t failed_count;
	struct names_stats stats; /* written here, read by any thread */
};

struct names_client *names_client_new(const char *program, uint64_t max_bytes)
{
	struct names_client *client = calloc(1, sizeof(*client));

	if (!client)
		return NULL;
	client->max_bytes = max_bytes;
	client->deadline_ns = DEADLINE_SECONDS * NSEC_PER_SEC;
	client->program = strdup(program);
	if (!client->program) {
		free(client);
		return NULL;
	}
	return client;
}

void names_client_free(struct names_client *client)
{
	if (!client)
		return;
	names_process_stop(&client->process);
	free(client->program);
	free(client);
}

void names_client_deadline(struct names_client *client, uint64_t ns)
{
	client->deadline_ns = ns;
}

pid_t names_client_pid(const struct names_client *client)
{
	return client->process.pid;
}

static void add(uint64_t *stat, uint64_t value)
{
	__atomic_fetch_add(stat, value, __ATOMIC_RELAXED);
}

static struct failed_file *find_failed(struct names_client *client, uint64_t file)
{
	size_t count =
		client->failed_count < MAX_FAILED_FILES ? client->failed_count : MAX_FAILED_FILES;

	for (size_t i = 0; i < count; i++) {
		if (client->failed[i].file == file)
			return &client->failed[i];
	}
	return NULL;
}

static void note_failed(struct names_client *client, uint64_t file, bool given_up)
{
	struct failed_file *failed = find_failed(client, file);

	if (!failed) {
		failed = &client->failed[client->failed_count++ % MAX_FAILED_FILES];
		add(&client->stats.files_failed, 1);
	}
	*failed = (struct failed_file){file, given_up};
}

/* The answers to the parts of a query that is too long for one request. */
struct answers {
	struct names_reply *replies;
	size_t count;
};

static void answers_release(struct answers *answers)
{
	for (size_t i = 0; i < answers->count; i++)
		free(answers->replies[i].bytes);
	free(answers->replies);
	*answers = (struct answers){0};
}

static size_t part_len(const struct names_query *query, size_t part)
{
	size_t left = query->count - part * WIRE_MAX_ADDRESSES;

	return left < WIRE_MAX_ADDRESSES ? left : WIRE_MAX_ADDRESSES;
}

/* Whether the process, and not we or the file as such, is what failed. */
static bool is_failure(int err)
{
	return err == -EPIPE || err == -ETIMEDOUT || err == -EBADMSG;
}

static int ask_part(struct names_client *client, const struct names_query *query, size_t part,
                    bool lines, struct names_reply *ret_reply)
{
	struct names_question question = {
		.head = {.file = query->file,
	                 .count = (uint32_t)part_len(query, part),
	                 .lines = lines},
		.fds = query->fds,
		.addresses = query->addresses + part * WIRE_MAX_ADDRESSES,
	};
	struct names_reply reply;
	int err = names_process_ask(&client->process, &question,
	                            clock_mono_ns() + client->deadline_ns, &reply);

	if (err < 0)
		return err;
	err = reply.head.error;
	if (err == 0)
		err = wire_frames_read(reply.bytes, reply.head.len, question.head.count, NULL,
		                       NULL);
	/* That it had no memory, or too much to say, is its way of dying. */
	else if (err == -ENOMEM || err == -E2BIG)
		err = -EPIPE;
	if (err < 0) {
		free(reply.bytes);
		return err;
	}
	*ret_reply = reply;
	return 0;
}

static int ask_parts(struct names_client *client, const struct names_query *query, bool lines,
                     struct answers *answers)
{
	size_t parts = (query->count - 1) / WIRE_MAX_ADDRESSES + 1;

	answers->replies = calloc(parts, sizeof(*answers->replies));
	if (!answers->replies)
		return -ENOMEM;
	for (; answers->count < parts; answers->count++) {
		int err = ask_part(client, query, answers->count, lines,
		                   &answers->replies[answers->count]);
		if (err < 0)
			return err;
	}
	return 0;
}

static int start(struct names_client *client)
{
	if (client->process.pid)
		return 0;
	int err = names_process_start(&client->process, client->program, client->max_bytes,
	                              clock_mono_ns() + client->deadline_ns);
	if (err < 0) {
		if (err != client->start_error && err != -ECANCELED)
			log_warning("cannot start the process that reads names: %s, going on "
			            "without them",
			            strerror(-err));
		client->start_error = err;
		return err;
	}
	client->start_error = 0;
	client->used = false;
	add(&client->stats.starts, 1);
	return 0;
}

/* -EIO when the process failed over this file, -EAGAIN when it may have been over another one. */
static int ask_once(struct names_client *client, const struct names_query *query, bool lines,
                    struct answers *answers)
{
	if (__atomic_load_n(&client->process.cancelled, __ATOMIC_RELAXED))
		return -ECANCELED;
	int err = start(client);
	bool used = client->used;

	/* Nothing of this is about the file. */
	if (err < 0)
		return is_failure(err) || err == -EAGAIN || err == -EIO ? -EPROTO : err;
	err = ask_parts(client, query, lines, answers);
	client->used = true;
	if (err == 0 || err == -ENOEXEC)
		return err;
	answers_release(answers);
	names_process_stop(&client->process);
	if (!is_failure(err))
		return err;
	add(&client->stats.crashes, 1);
	return used && err != -ETIMEDOUT ? -EAGAIN : -EIO;
}

static int ask(struct names_client *client, const struct names_query *query,
               struct answers *answers)
{
	const struct failed_file *failed = find_failed(client, query->file);
	bool lines = query->lines && !failed;
	int err;

	if (failed && failed->given_up)
		return -EIO;
	for (;;) {
		err = ask_once(client, query, lines, answers);
		if (err == -EAGAIN)
			err = ask_once(client, query, lines, answers);
		if (err != -EIO)
			return err;
		note_failed(client, query->file, !lines);
		if (!lines)
			return err;
		lines = false;
	}
}

struct part_ctx {
	size_t first; /* index of the part's first address */
	source_frame_fn *fn;
	void *ctx;
};

static int tell_frame(size_t index, const struct source_frame *frame, void *ctx)
{
	const struct part_ctx *part = ctx;

	return part->fn(part->first + index, frame, part->ctx);
}

static int tell(const struct names_query *query, const struct answers *answers, source_frame_fn *fn,
                void *ctx)
{
	int err = 0;

	for (size_t i = 0; i < answers->count && !err; i++) {
		struct part_ctx part = {i * WIRE_MAX_ADDRESSES, fn, ctx};
		err = wire_frames_read(answers->replies[i].bytes, answers->replies[i].head.len,
		                       part_len(query, i), tell_frame, &part);
	}
	return err;
}

int names_client_find(struct names_client *client, const struct names_query *query,
                      source_frame_fn *fn, void *ctx)
{
	struct answers answers = {0};
	uint64_t begun = clock_mono_ns();

	if (!query->count)
		return 0;
	if (query->fds[FILE_ITSELF] < 0)
		return -EINVAL;
	int err = ask(client, query, &answers);
	client->last_asked_ns = clock_mono_ns();
	add(&client->stats.requests, 1);
	add(&client->stats.addresses, query->count);
	add(&client->stats.busy_seconds, client->last_asked_ns - begun);
	if (err == 0)
		err = tell(query, &answers, fn, ctx);
	answers_release(&answers);
	return err;
}

void names_client_cancel(struct names_client *client)
{
	__atomic_store_n(&client->process.cancelled, true, __ATOMIC_RELAXED);
}

void names_client_rest(struct names_client *client, uint64_t idle_ns)
{
	if (clock_mono_ns() - client->last_asked_ns >= idle_ns)
		names_process_stop(&client->process);
}

void names_client_get_stats(const struct names_client *client, struct names_stats *ret_stats)
{
#define STAT(name, type, help) \
	ret_stats->name = __atomic_load_n(&client->stats.name, __ATOMIC_RELAXED);
	NAMES_STATS(STAT)
#undef STAT
}
