/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Nothing is kept between questions, though a large file is asked about piece by piece: each opens
 * it again, which takes little, and the index leads to what the piece needs.
 */
#include "unwind/table_answer.h"

#include "reader/jobs.h"
#include "unwind/table_wire.h"

#include <errno.h>
#include <string.h>

_Static_assert(((uint64_t)sizeof(uint32_t) << INDEX_FIRST_BITS) + 64 <= READER_MAX_ANSWER,
               "the largest table can be sent");

int table_answer(struct reading *reading, struct buf *out)
{
	_cleanup_(table_freep) struct table *table = NULL;
	_cleanup_(elf_freep) struct elf *elf = NULL;
	struct table_query asked;

	if (reading->len != sizeof(asked) || reading->fds[0] < 0)
		return -EPROTO;
	memcpy(&asked, reading->bytes, sizeof(asked));
	int err = elf_open_fd(reading->fds[0], &elf);
	if (!err)
		err = table_build_part(elf, reading->job == READER_TABLE_FOLLOWED,
		                       (struct range){asked.start, asked.end}, asked.max_words,
		                       &table);
	return err ? err : table_write(table, out);
}
