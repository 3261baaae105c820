/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Both ends of both questions.
 */
#include "heap/heap_ask.h"

#include <errno.h>

static int open_file(const struct reading *reading, struct elf **ret_elf)
{
	if (reading->len || reading->fds[0] < 0)
		return -EPROTO;
	return elf_open_fd(reading->fds[0], ret_elf);
}

int heap_survey_answer(struct reading *reading, struct buf *out)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	struct heap_survey survey;
	int err = open_file(reading, &elf);

	if (!err)
		err = heap_survey_read(elf, &survey);
	if (err)
		return err;
	buf_add(out, &survey, sizeof(survey));
	return buf_error(out);
}

int heap_sites_answer(struct reading *reading, struct buf *out)
{
	_cleanup_free_ struct heap_allocator *allocator = malloc(sizeof(*allocator));
	_cleanup_(elf_freep) struct elf *elf = NULL;
	int err = allocator ? open_file(reading, &elf) : -ENOMEM;

	if (!err)
		err = heap_allocator_read(elf, allocator);
	if (err)
		return err;
	buf_add(out, allocator, sizeof(*allocator));
	return buf_error(out);
}

static int check_survey(const uint8_t *bytes, size_t len, void *ctx)
{
	(void)ctx;
	return heap_survey_check(bytes, len);
}

static int check_sites(const uint8_t *bytes, size_t len, void *ctx)
{
	return heap_allocator_check(bytes, len, *(const uint64_t *)ctx);
}

int heap_ask_survey(struct reader *reader, const struct heap_question *question,
                    struct heap_survey *ret_survey)
{
	const struct reader_query query = {
		.question = {.job = READER_HEAP_SURVEY, .fds = {question->fd, -1, -1}},
		.file = question->number,
		.check = check_survey,
	};

	return reader_ask_fixed(reader, &query, ret_survey, sizeof(*ret_survey));
}

int heap_ask_sites(struct reader *reader, const struct heap_question *question,
                   struct heap_allocator *ret_allocator)
{
	uint64_t bytes = question->bytes;
	const struct reader_query query = {
		.question = {.job = READER_HEAP_SITES, .fds = {question->fd, -1, -1}},
		.file = question->number,
		.check = check_sites,
		.ctx = &bytes,
	};

	return reader_ask_fixed(reader, &query, ret_allocator, sizeof(*ret_allocator));
}
