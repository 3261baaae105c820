/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One permanent thread, because it must live as long as the process that it starts. A question
 * stays in the list, in the order of arrival, until its answer is taken or its entry is needed.
 */
#include "symbolize/slow_names.h"

#include "base/accounts.h"
#include "base/clock.h"
#include "base/thread.h"
#include "symbolize/native.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include <utlist.h>

/* After this time without a question the reader process is ended. */
#define IDLE_NS (20 * NSEC_PER_SEC)
/* Limits the time to receive names: a file of a few kilobytes can have names that take minutes. */
#define TELL_NS (60 * NSEC_PER_SEC)

enum state { STATE_WAITING, STATE_ASKED, STATE_DONE };

struct entry {
	enum state state;
	int error;               /* STATE_DONE */
	struct builder *answers; /* STATE_DONE without an error */
	struct slow_question question;
	char *path;
	uint64_t *addresses;
	uint32_t *locations; /* in `answers`, indexed like `addresses` */
	size_t max_answer_bytes;
	uint64_t until_ns;
	struct entry *prev, *next;
};

struct slow_names {
	struct names_client *client; /* used by the thread only */
	size_t max_answer_bytes;
	pthread_mutex_t lock; /* protects everything below */
	pthread_cond_t changed;
	pthread_t thread;
	bool started, stopping;
	uint32_t last_owner; /* the account that had the last turn */
	struct entry *entries;
	size_t count;
};

static uint32_t owner_of(const struct entry *entry)
{
	return account_of(entry->question.object->owner);
}

static void init_sync(struct slow_names *slow)
{
	thread_cond_init(&slow->changed);
	pthread_mutex_init(&slow->lock, NULL);
}

struct slow_names *slow_names_new(const char *program, uint64_t max_bytes, size_t max_answer_bytes)
{
	struct slow_names *slow = calloc(1, sizeof(*slow));

	if (!slow)
		return NULL;
	init_sync(slow);
	slow->max_answer_bytes = max_answer_bytes;
	slow->client = names_client_new_as(program, "slownames", max_bytes);
	if (!slow->client) {
		slow_names_free(slow);
		return NULL;
	}
	return slow;
}

static void entry_free(struct entry *entry)
{
	if (!entry)
		return;
	object_unref(entry->question.object);
	object_unref(entry->question.debug);
	closep(&entry->question.supplement);
	builder_free(entry->answers);
	free(entry->path);
	free(entry->addresses);
	free(entry->locations);
	free(entry);
}
DEFINE_CLEANUP(struct entry *, entry_free)

static void forget(struct slow_names *slow, struct entry *entry)
{
	DL_DELETE(slow->entries, entry);
	slow->count--;
	entry_free(entry);
}

void slow_names_cancel(struct slow_names *slow)
{
	pthread_mutex_lock(&slow->lock);
	slow->stopping = true;
	pthread_cond_broadcast(&slow->changed);
	pthread_mutex_unlock(&slow->lock);
	names_client_cancel(slow->client);
}

void slow_names_free(struct slow_names *slow)
{
	if (!slow)
		return;
	if (slow->started) {
		slow_names_cancel(slow);
		pthread_join(slow->thread, NULL);
	}
	while (slow->entries)
		forget(slow, slow->entries);
	names_client_free(slow->client);
	pthread_cond_destroy(&slow->changed);
	pthread_mutex_destroy(&slow->lock);
	free(slow);
}

/* The first entry of a user that did not have the last turn; otherwise the first. */
static struct entry *next_entry(struct slow_names *slow)
{
	struct entry *entry = NULL, *first = NULL;

	DL_FOREACH (slow->entries, entry) {
		if (entry->state != STATE_WAITING)
			continue;
		if (owner_of(entry) != slow->last_owner)
			return entry;
		if (!first)
			first = entry;
	}
	return first;
}

static int take_frame(size_t index, const struct source_frame *frame, void *ctx)
{
	struct entry *entry = ctx;
	uint32_t function = native_frame(entry->answers, entry->path, frame);

	builder_line(entry->answers, entry->locations[index], function,
	             native_line(entry->question.object, entry->addresses[index], frame));
	if (builder_memory(entry->answers) > entry->max_answer_bytes ||
	    clock_mono_ns() >= entry->until_ns)
		return -E2BIG;
	return builder_error(entry->answers);
}

static int add_locations(struct entry *entry)
{
	entry->answers = builder_new();
	entry->locations = calloc(entry->question.count, sizeof(*entry->locations));
	if (!entry->answers || !entry->locations)
		return -ENOMEM;
	for (size_t i = 0; i < entry->question.count; i++)
		entry->locations[i] = builder_location(entry->answers, 0, entry->addresses[i]);
	return builder_error(entry->answers);
}

static void note_unknown(struct entry *entry)
{
	uint32_t unknown = builder_function(entry->answers, &NOTHING_KNOWN);

	for (size_t i = 0; i < entry->question.count; i++)
		if (!builder_view(entry->answers)->locations[entry->locations[i]].line_count)
			builder_line(entry->answers, entry->locations[i], unknown, 0);
}

static int answer(struct names_client *client, struct entry *entry)
{
	const struct slow_question *question = &entry->question;
	const struct names_query query = {
		.file = question->file,
		.fds = {[FILE_ITSELF] = question->object->fd,
	                [FILE_DEBUG] = question->debug ? question->debug->fd : -1,
	                [FILE_SUPPLEMENT] = question->supplement},
		.addresses = entry->addresses,
		.count = question->count,
		.lines = true,
	};
	int err = add_locations(entry);

	reader_of_user(names_client_reader(client),
	               reader_user(question->object->user, question->object->owner));
	if (err == 0)
		err = names_client_find(client, &query, take_frame, entry);
	if (err)
		return err;
	note_unknown(entry);
	return builder_error(entry->answers);
}

/* Waits until there may be work; ends the reader process after IDLE_NS without any. */
static void wait_for_work(struct slow_names *slow)
{
	if (!thread_cond_wait(&slow->changed, &slow->lock, clock_mono_ns() + IDLE_NS))
		names_client_rest(slow->client, IDLE_NS);
}

static void *run(void *arg)
{
	struct slow_names *slow = arg;

	pthread_mutex_lock(&slow->lock);
	while (!slow->stopping) {
		struct entry *entry = next_entry(slow);

		if (!entry) {
			wait_for_work(slow);
			continue;
		}
		entry->state = STATE_ASKED;
		entry->until_ns = clock_mono_ns() + TELL_NS;
		slow->last_owner = owner_of(entry);
		pthread_mutex_unlock(&slow->lock);
		int err = answer(slow->client, entry);
		pthread_mutex_lock(&slow->lock);
		entry->state = STATE_DONE;
		entry->error = err;
		pthread_cond_broadcast(&slow->changed);
	}
	pthread_mutex_unlock(&slow->lock);
	return NULL;
}

/* Starts the thread when it is first needed: on most hosts it never is. */
static int start(struct slow_names *slow)
{
	if (slow->started)
		return 0;
	int err = thread_start(&slow->thread, run, slow);
	slow->started = !err;
	return err;
}

static struct entry *find(struct slow_names *slow, uint64_t file)
{
	struct entry *entry;

	DL_FOREACH (slow->entries, entry)
		if (entry->question.file == file)
			return entry;
	return NULL;
}

/* Makes room by dropping the oldest answer that was not taken; if it is still needed it is asked
 * for again. */
static bool make_room(struct slow_names *slow, uint32_t owner)
{
	struct entry *entry = NULL, *done = NULL;
	size_t of_owner = 0;

	DL_FOREACH (slow->entries, entry) {
		of_owner += entry->state != STATE_DONE && owner_of(entry) == account_of(owner);
		if (!done && entry->state == STATE_DONE)
			done = entry;
	}
	if (owner != 0 && of_owner >= SLOW_MAX_FILES_OF_OWNER)
		return false;
	if (slow->count >= SLOW_MAX_FILES && done)
		forget(slow, done);
	return slow->count < SLOW_MAX_FILES;
}

static struct entry *entry_new(const struct slow_question *question, size_t max_answer_bytes)
{
	_cleanup_(entry_freep) struct entry *entry = calloc(1, sizeof(*entry));

	if (!entry)
		return NULL;
	entry->question = *question;
	entry->question.object = object_ref(question->object);
	entry->question.debug = question->debug ? object_ref(question->debug) : NULL;
	entry->question.supplement =
		question->supplement >= 0 ? fcntl(question->supplement, F_DUPFD_CLOEXEC, 0) : -1;
	entry->max_answer_bytes = max_answer_bytes;
	entry->path = strdup(question->path);
	entry->addresses = calloc(question->count, sizeof(*entry->addresses));
	if (!entry->path || !entry->addresses)
		return NULL;
	memcpy(entry->addresses, question->addresses, question->count * sizeof(*entry->addresses));
	return TAKE_PTR(entry);
}

static int ask(struct slow_names *slow, const struct slow_question *question)
{
	int err = start(slow);

	if (err < 0)
		return err;
	if (!make_room(slow, question->object->owner))
		return -EAGAIN;
	struct entry *entry = entry_new(question, slow->max_answer_bytes);
	if (!entry)
		return -ENOMEM;
	DL_APPEND(slow->entries, entry);
	slow->count++;
	pthread_cond_broadcast(&slow->changed);
	return 0;
}

int slow_names_ask(struct slow_names *slow, const struct slow_question *question)
{
	pthread_mutex_lock(&slow->lock);
	int err = slow->stopping ? -EAGAIN : ask(slow, question);
	pthread_mutex_unlock(&slow->lock);
	return err;
}

int slow_names_take(struct slow_names *slow, uint64_t file, uint64_t patience_ns,
                    struct builder **ret_answers)
{
	uint64_t until_ns = clock_mono_ns() + patience_ns;
	int err = -ENOENT;

	pthread_mutex_lock(&slow->lock);
	struct entry *entry = find(slow, file);
	/* Only the calling thread removes entries, so the entry remains valid. */
	while (entry && entry->state != STATE_DONE && !slow->stopping)
		if (!thread_cond_wait(&slow->changed, &slow->lock, until_ns))
			break;
	if (entry && entry->state != STATE_DONE) {
		err = -EAGAIN;
	} else if (entry) {
		err = entry->error;
		*ret_answers = TAKE_PTR(entry->answers);
		if (err)
			builder_free(*ret_answers);
		forget(slow, entry);
	}
	pthread_mutex_unlock(&slow->lock);
	return err;
}

void slow_names_add_stats(const struct slow_names *slow, struct names_stats *stats)
{
	names_client_add_stats(slow->client, stats);
}
