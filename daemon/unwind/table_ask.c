/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The daemon opens files, which may need its privileges, but does not parse them.
 */
#include "unwind/table_ask.h"

#include "object/debugfile.h"
#include "unwind/table_wire.h"

#include <errno.h>

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

int table_ask(struct reader *reader, const struct object *object, bool follow, struct range part,
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
	int err = ask(reader, &query, ret_table);

	/* A file without call frame information may have been stripped of it: try its debug
	 * file. */
	if (err != -ENODATA)
		return err;
	int said = links_ask(reader, object, object->id, &links);
	if (says_nothing_of_file(said))
		return said;
	if (said || debugfile_open(object, &links, &debug))
		return err;
	query.question.job = READER_TABLE;
	query.question.fds[0] = debug->fd;
	query.file = debugfile_number(object);
	return ask(reader, &query, ret_table);
}
