/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A large file is asked about piece by piece. Each question opens the file again, which costs
 * little, and the index leads to what the piece needs. Only the result of following code is kept,
 * for the file that was followed last, until the file is written to.
 */
#include "unwind/table_answer.h"

#include "object/stamp.h"
#include "reader/jobs.h"
#include "unwind/table_wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(((uint64_t)sizeof(uint32_t) << INDEX_FIRST_BITS) + 64 <= READER_MAX_ANSWER,
               "the largest table can be sent");

/* The contents of *reading->kept in a process that builds tables. */
struct last {
	struct stamp file;
	struct followed followed;
};

static void forget(void *kept)
{
	struct last *last = kept;

	followed_end(&last->followed);
}

static int followed_of(struct reading *reading, struct followed **ret_followed)
{
	struct stamp file = {0};
	struct last *last = *reading->kept;
	int err = stamp_read(reading->fds[0], &file);

	if (err)
		return err;
	if (!last)
		last = *reading->kept = calloc(1, sizeof(*last));
	if (!last)
		return -ENOMEM;
	if (memcmp(&last->file, &file, sizeof(file)) != 0)
		followed_end(&last->followed);
	last->file = file;
	reading->forget = forget;
	*ret_followed = &last->followed;
	return 0;
}

int table_answer(struct reading *reading, struct buf *out)
{
	_cleanup_(table_freep) struct table *table = NULL;
	_cleanup_(elf_freep) struct elf *elf = NULL;
	struct followed *followed = NULL;
	struct table_query asked;
	int err = 0;

	if (reading->len != sizeof(asked) || reading->fds[0] < 0)
		return -EPROTO;
	memcpy(&asked, reading->bytes, sizeof(asked));
	if (reading->job == READER_TABLE_FOLLOWED)
		err = followed_of(reading, &followed);
	if (!err)
		err = elf_open_fd(reading->fds[0], &elf);
	if (!err)
		err = table_build_part(elf, followed, (struct range){asked.start, asked.end},
		                       asked.max_words, &table);
	return err ? err : table_write(table, out);
}
