/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The daemon opens files, which may need its privileges, but does not parse them.
 */
#include "unwind/table_ask.h"

#include "base/clock.h"
#include "unwind/table_wire.h"

#include <errno.h>

/* A checksum that takes longer is computed in several searches, so that none of them is taken for
 * one that hangs. */
enum { MAX_SEARCHES = 40 };
static const uint64_t check_ns = 250 * NSEC_PER_MSEC;

static int check(const uint8_t *bytes, size_t len, void *ctx)
{
	const struct table_query *asked = ctx;

	return table_check(bytes, len, asked->max_words);
}

static int ask(struct reader *reader, const struct reader_query *query, struct table **ret_table)
{
	struct reader_reply reply;
	int err = reader_ask(reader, query, &reply);

	return err ? err : table_read(reply.bytes, reply.len, ret_table);
}

/* Whether the error says nothing about the file, so that a later attempt may succeed. */
static bool says_nothing_of_file(int error)
{
	return error == -ECHILD || error == -ENOMEM || error == -ECANCELED || error == -ETIMEDOUT;
}

/* -ENOENT: there is none. -ECHILD: it is not known yet. */
static int open_debug(struct table_asker *asker, struct object *object, const struct links *links,
                      struct object **ret_debug)
{
	int err = -EAGAIN;

	for (int i = 0; i < MAX_SEARCHES && err == -EAGAIN; i++) {
		asker->checks.left_ns = check_ns;
		err = debugfile_open_aside(asker->aside, object, links, &asker->checks, ret_debug);
	}
	return err == -ETIMEDOUT || err == -EBUSY || err == -EAGAIN ? -ECHILD : err;
}

int table_ask(struct table_asker *asker, struct object *object, bool follow, struct range part,
              size_t max_words, struct table **ret_table)
{
	_cleanup_(object_unrefp) struct object *debug = NULL;
	struct table_query asked = {max_words, part.start, part.end};
	struct links links;
	struct reader_query query = {
		.question = {.job = follow ? READER_TABLE_FOLLOWED : READER_TABLE,
	                     .fds = {object->fd, -1, -1},
	                     .pieces = {{&asked, sizeof(asked)}}},
		.file = object->id,
		.check = check,
		.ctx = &asked,
	};
	int err = ask(asker->reader, &query, ret_table);

	/* A file without call frame information may have been stripped of it: try its debug
	 * file. */
	if (err != -ENODATA)
		return err;
	int said = links_ask(asker->reader, object, object->id, &links);
	if (!said)
		said = open_debug(asker, object, &links, &debug);
	if (says_nothing_of_file(said))
		return said;
	if (said)
		return err;
	query.question.job = READER_TABLE;
	query.question.fds[0] = debug->fd;
	query.file = debugfile_number(object);
	return ask(asker->reader, &query, ret_table);
}
