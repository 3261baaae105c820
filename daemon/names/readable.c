/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Each question has as many names as fit. When a question fails, each of its names is asked for
 * alone. Names over which the process dies cannot occupy a call for long: after some deaths, and
 * after some time, the remaining names stay as they are.
 */
#include "names/readable.h"

#include "base/clock.h"
#include "base/hash.h"
#include "names/mangled.h"

#include <errno.h>
#include <string.h>

enum { MAX_DEATHS = 8 }; /* of one call, for one name each */

/* A thousand names take some 10 ms; names made to take as long as possible, some seconds; much more
 * on an overloaded machine. */
static const uint64_t answer_ns = 10 * NSEC_PER_SEC, all_ns = 25 * NSEC_PER_SEC;

struct asking {
	struct readable_asker *asker;
	const char *const *names;
	struct readable *readable;
	uint64_t until_ns, deaths;
	size_t left; /* names that need an answer and have none yet */
	/* The current question. */
	struct buf question;
	size_t asked[MANGLED_MAX_NAMES]; /* indices */
	size_t asked_count;
};

/* Names with the same hash count as one: a user that constructs such a name can only keep the other
 * name from being made readable. */
static uint64_t hash_of(const char *name)
{
	return hash_bytes(HASH_START, name, strlen(name)) ?: 1;
}

static bool has_failed(const struct readable_asker *asker, const char *name)
{
	uint64_t hash;

	if (!asker->failed_names)
		return false;
	hash = hash_of(name);
	for (size_t i = 0; i < READABLE_MAX_FAILED; i++)
		if (asker->failed[i] == hash)
			return true;
	return false;
}

/* There may be more names than were counted, because names that failed long ago are forgotten and
 * asked for again. */
static void settle(struct asking *asking, size_t count)
{
	asking->left -= count < asking->left ? count : asking->left;
}

static void note_failed(struct asking *asking, const char *name)
{
	struct readable_asker *asker = asking->asker;

	asking->deaths++;
	settle(asking, 1);
	asker->failed[asker->failed_names % READABLE_MAX_FAILED] = hash_of(name);
	__atomic_fetch_add(&asker->failed_names, 1, __ATOMIC_RELAXED);
}

/* Makes the next question from names[from] up to names[to], exclusive; returns the index of the
 * first name that does not fit. */
static size_t put_question(struct asking *asking, size_t from, size_t to)
{
	size_t i = from;

	buf_clear(&asking->question);
	asking->asked_count = 0;
	for (; i < to && asking->asked_count < MANGLED_MAX_NAMES; i++) {
		const char *name = asking->names[i];

		if (!mangled_start(name) || has_failed(asking->asker, name))
			continue;
		if (asking->question.len + strlen(name) + 1 > MANGLED_MAX_QUESTION)
			break;
		buf_add(&asking->question, name, strlen(name) + 1);
		asking->asked[asking->asked_count++] = i;
	}
	return i;
}

static int check_answer(const uint8_t *bytes, size_t len, void *ctx)
{
	const struct asking *asking = ctx;
	size_t count;

	if (len > MANGLED_MAX_ANSWER || mangled_count(bytes, len, &count) < 0)
		return -EBADMSG;
	return count <= asking->asked_count ? 0 : -EBADMSG;
}

/* Sets *next to the first name that the answer had no room for, if any. */
static int take_answer(struct asking *asking, const struct reader_reply *reply, size_t *next)
{
	struct readable *readable = asking->readable;
	const char *at = (const char *)reply->bytes, *end = at + reply->len;
	size_t i = 0;

	for (; at < end; i++, at += strlen(at) + 1) {
		if (!*at)
			continue;
		readable->starts[asking->asked[i]] = readable->text.len;
		buf_add(&readable->text, at, strlen(at) + 1);
	}
	settle(asking, i);
	if (i < asking->asked_count)
		*next = asking->asked[i];
	return buf_error(&readable->text);
}

/* Asks the question that put_question() made, and moves *next back to the first name without an
 * answer. -EIO: the process failed over one of several names, and it is not known over which. */
static int ask(struct asking *asking, size_t *next)
{
	const struct reader_query query = {
		.question = {.job = READER_DEMANGLE,
	                     .fds = {-1, -1, -1},
	                     .pieces = {{asking->question.data, asking->question.len}}},
		.no_file = true,
		.deadline_ns = answer_ns,
		.check = check_answer,
		.ctx = asking,
	};
	struct reader_reply reply;

	if (!asking->asked_count)
		return 0;
	if (buf_error(&asking->question))
		return buf_error(&asking->question);
	int err = reader_ask(asking->asker->reader, &query, &reply);
	if (err == -EIO && asking->asked_count == 1) {
		note_failed(asking, asking->names[asking->asked[0]]);
		return 0;
	}
	if (err < 0)
		return err;
	err = take_answer(asking, &reply, next);
	free(reply.bytes);
	return err;
}

static bool is_enough(const struct asking *asking)
{
	return asking->readable->text.len > asking->asker->max_bytes ||
	       asking->deaths >= MAX_DEATHS || clock_mono_ns() >= asking->until_ns;
}

static int ask_each(struct asking *asking, size_t from, size_t to)
{
	size_t next;
	int err = 0;

	for (size_t i = from; i < to && !err && !is_enough(asking); i = next) {
		next = put_question(asking, i, i + 1);
		err = ask(asking, &next);
	}
	return err;
}

static int ask_all(struct asking *asking, size_t count)
{
	size_t next;
	int err = 0;

	for (size_t from = 0; from < count && !err && !is_enough(asking); from = next) {
		next = put_question(asking, from, count);
		err = ask(asking, &next);
		if (err == -EIO)
			err = ask_each(asking, from, next);
	}
	return err;
}

static size_t count_mangled(const struct readable_asker *asker, const char *const *names,
                            size_t count)
{
	size_t mangled = 0;

	for (size_t i = 0; i < count; i++)
		mangled += mangled_begins(names[i]) && !has_failed(asker, names[i]);
	return mangled;
}

int readable_ask(struct readable_asker *asker, const char *const *names, size_t count,
                 struct readable *ret_readable)
{
	struct asking asking = {
		.asker = asker,
		.names = names,
		.readable = ret_readable,
		.until_ns = clock_mono_ns() + (asker->hurry_ns ?: all_ns),
		.left = count_mangled(asker, names, count),
	};

	*ret_readable =
		(struct readable){.starts = calloc(count ?: 1, sizeof(size_t)), .count = count};
	buf_add_char(&ret_readable->text, '\0');
	if (!ret_readable->starts || buf_error(&ret_readable->text))
		return -ENOMEM;
	int err = ask_all(&asking, count);
	buf_release(&asking.question);
	if (asker->hurry_ns && !err && clock_mono_ns() >= asking.until_ns && asking.left)
		err = -ETIMEDOUT;
	if (err == -ETIMEDOUT)
		return err;
	__atomic_fetch_add(&asker->left_names, asking.left, __ATOMIC_RELAXED);
	/* After any other error, names can be shown as they are. */
	return err == -ENOMEM ? err : 0;
}

void readable_release(struct readable *readable)
{
	buf_release(&readable->text);
	free(readable->starts);
	*readable = (struct readable){0};
}

const char *readable_text(const struct readable *readable, size_t index)
{
	if (index >= readable->count || !readable->starts[index])
		return NULL;
	return (const char *)readable->text.data + readable->starts[index];
}
