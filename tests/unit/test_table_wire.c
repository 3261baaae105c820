/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tables as bytes: a written table can be read, and a table that would lead a walker out of its
 * words is refused.
 */
#include "unwind/table_wire.h"

#include "reader/filter.h"
#include "tests/unit/elf_image.h"
#include "tests/unit/rows.h"
#include "tests/unit/lacks.h"
#include "tests/unit/suites.h"
#include "unwind/table_ask.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum {
	WORDS = 1 << 24,
	/* Parts of the table below: three blocks, a rule, rows. */
	INDEX = 0,
	RULES = 4,
	ROWS = 8,
	TAIL = 16, /* bytes behind the words */
};

/* Two rows in words, one with a rule, and one over a whole block. */
static void make_bytes(struct buf *out)
{
	struct frame_row rule = {
		.start = 0x1120, .end = 0x1140, .cfa = CFA(SP, 12), .fp = SAME, .ra = RA};
	_cleanup_(table_builder_freep) struct table_builder *builder =
		table_builder_new(MACHINE_X86_64);
	_cleanup_(table_freep) struct table *table = NULL;

	for (int64_t i = 0; i < 2; i++) {
		struct frame_row row = {.start = 0x1000 + 0x100 * (uint64_t)i,
		                        .end = 0x1020 + 0x100 * (uint64_t)i,
		                        .cfa = CFA(SP, 8 * (i + 1)),
		                        .fp = SAME,
		                        .ra = RA};
		ck_assert_int_eq(table_add(builder, &row), 0);
	}
	ck_assert_int_eq(table_add(builder, &rule), 0);
	rule.start = 0x1280;
	rule.end = 0x1300;
	ck_assert_int_eq(table_add(builder, &rule), 0);
	ck_assert_int_eq(table_seal(builder, 0, UINT64_MAX, WORDS, &table), 0);
	ck_assert_uint_eq(table->blocks, 3);
	ck_assert_uint_eq(table->rule_count, 1);
	*out = BUF_INIT;
	ck_assert_int_eq(table_write(table, out), 0);
	ck_assert_ptr_null(table->words);
}

START_TEST(there_and_back)
{
	_cleanup_(table_freep) struct table *table = NULL;
	struct buf bytes;

	make_bytes(&bytes);
	size_t words = (bytes.len - TAIL) / sizeof(uint32_t);
	ck_assert_int_eq(table_check(bytes.data, bytes.len, words), 0);
	ck_assert_int_eq(table_check(bytes.data, bytes.len, words - 1), -EBADMSG);
	ck_assert_int_eq(table_read(bytes.data, bytes.len, &table), 0);
	ck_assert_uint_eq(table->text, 0x1000);
	ck_assert_uint_eq(table->word_count, words);
	ck_assert_uint_eq(table->row_count, words - ROWS);
	ck_assert_uint_eq(table->rule_count, 1);
	ck_assert_uint_eq(table_find(table, 0x1000), PLAIN(1));
	ck_assert_uint_eq(table_find(table, 0x1100), PLAIN(2));
	ck_assert_uint_eq(table_find(table, 0x1130), RULE | RULES / RULE_WORDS);
	ck_assert_uint_eq(table_find(table, 0x1240), NONE);
}
END_TEST

START_TEST(cut_short)
{
	struct buf bytes;

	make_bytes(&bytes);
	for (size_t len = 0; len < bytes.len; len++) {
		_cleanup_free_ uint8_t *copy = malloc(len ? len : 1);

		memcpy(copy, bytes.data, len);
		ck_assert_int_eq(table_check(copy, len, WORDS), -EBADMSG);
	}
	buf_release(&bytes);
}
END_TEST

/* A word that replaces the one at `at`, which counts from the end when negative. */
static const struct forgery {
	int at;
	uint32_t word;
} forgeries[] = {
	/* Rows that start in the index, in the rules or behind the end, or that end behind the
         * end. */
	{INDEX, 0},
	{INDEX + 1, (ROWS - 1) << 8},
	{INDEX + 2, 0xffffff00},
	{INDEX + 2, 100 << 8},
	{INDEX, ROWS << 8 | 0xff},
	/* A block's first row that starts later. */
	{ROWS, 1U << 24 | PLAIN(1)},
	/* Operations that do not exist, and rules before and behind the table's rules. */
	{ROWS, OP_OF_NAME(OP_PLT + 1)},
	{ROWS, OP_OF_NAME(0xff)},
	{ROWS, OP_OF_NAME(1 << 16)},
	{ROWS, RULE},
	{ROWS, RULE | 2},
	{ROWS, RULE | OP_VALUE_MASK},
	/* A rule's kinds and registers: CFA and its register, frame pointer and its register,
         * return address. */
	{RULES, 2},
	{RULES, MAX_REGS << 8},
	{RULES, 4 << 16},
	{RULES, (uint32_t)MAX_REGS << 24},
	{RULES + 1, 4},
	{RULES + 1, MAX_REGS << 8},
	/* The tail: text, whose upper half follows it; blocks; rules. */
	{-4, 0x1001},
	{-2, 0},
	{-2, 100},
	{-2, UINT32_MAX},
	{-1, 0},
	{-1, 3},
	{-1, UINT32_MAX},
};

START_TEST(forged)
{
	const struct forgery *forgery = &forgeries[_i];
	struct buf bytes;

	make_bytes(&bytes);
	size_t words = bytes.len / sizeof(uint32_t);
	size_t at = forgery->at < 0 ? words - (size_t)-forgery->at : (size_t)forgery->at;
	memcpy(bytes.data + at * sizeof(uint32_t), &forgery->word, sizeof(forgery->word));
	ck_assert_int_eq(table_check(bytes.data, bytes.len, WORDS), -EBADMSG);
	buf_release(&bytes);
}
END_TEST

START_TEST(past_all_addresses)
{
	static const uint64_t last = -3ULL * BLOCK_BYTES, too_far = -2ULL * BLOCK_BYTES;
	struct buf bytes;

	make_bytes(&bytes);
	memcpy(bytes.data + bytes.len - TAIL, &last, sizeof(last));
	ck_assert_int_eq(table_check(bytes.data, bytes.len, WORDS), 0);
	memcpy(bytes.data + bytes.len - TAIL, &too_far, sizeof(too_far));
	ck_assert_int_eq(table_check(bytes.data, bytes.len, WORDS), -EBADMSG);
	buf_release(&bytes);
}
END_TEST

static const struct range everything = {0, UINT64_MAX};

/* A reader process makes the same words as this process. */
START_TEST(by_a_reader)
{
	_cleanup_(reader_freep) struct reader *reader =
		reader_new(&(struct reader_program){READER_SELF, "test", 256 << 20, 0});
	_cleanup_(aside_freep) struct aside *aside = aside_new();
	_cleanup_(object_unrefp) struct object *object = NULL, *bare = NULL;
	struct table_asker asker = {.reader = reader, .aside = aside};
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct elf_image image;

	ck_assert_int_eq(object_open_fd(fd, "self", &object), 0);
	for (int follow = 0; follow < 2; follow++) {
		_cleanup_(table_freep) struct table *here = NULL, *there = NULL;

		ck_assert_int_eq(table_build(object->elf, follow, WORDS, &here), 0);
		ck_assert_int_eq(table_ask(&asker, object, follow, everything, WORDS, &there), 0);
		ck_assert_uint_eq(here->text, there->text);
		ck_assert_uint_eq(here->blocks, there->blocks);
		ck_assert_uint_eq(here->word_count, there->word_count);
		ck_assert_uint_eq(here->row_count, there->row_count);
		ck_assert_mem_eq(here->words, there->words,
		                 here->word_count * sizeof(*here->words));
	}
	_cleanup_(table_freep) struct table *none = NULL;
	ck_assert_int_eq(table_ask(&asker, object, false, everything, 1000, &none), -E2BIG);
	elf_image_init(&image, 1);
	ck_assert_int_eq(object_open_bytes(&image, sizeof(image), "image", &bare), 0);
	ck_assert_int_eq(table_ask(&asker, bare, false, everything, WORDS, &none), -ENODATA);
	struct reader_stats stats = {0};
	reader_add_stats(reader, &stats);
	ck_assert_uint_eq(stats.starts, 1);
	ck_assert_uint_eq(stats.crashes, 0);
}
END_TEST

/* A table that needs more memory than there is is given up, and other tables are not affected. */
START_TEST(without_memory)
{
	_cleanup_(reader_freep) struct reader *reader =
		reader_new(&(struct reader_program){READER_SELF, "test", 64 << 10, 0});
	_cleanup_(aside_freep) struct aside *aside = aside_new();
	_cleanup_(object_unrefp) struct object *object = NULL, *bare = NULL;
	struct table_asker asker = {.reader = reader, .aside = aside};
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct reader_stats stats = {0};
	struct table *none = NULL;
	struct elf_image image;

	ck_assert_int_eq(object_open_fd(fd, "self", &object), 0);
	/* With sanitizers, so little memory is not enough for anything. */
	if (host_lacks(filter_works(), "filters of system calls, which sanitizers do not go with"))
		return;
	elf_image_init(&image, 1);
	ck_assert_int_eq(object_open_bytes(&image, sizeof(image), "image", &bare), 0);
	bare->id = 1;
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(table_ask(&asker, object, false, everything, WORDS, &none), -EIO);
		ck_assert_int_eq(table_ask(&asker, bare, false, everything, WORDS, &none),
		                 -ENODATA);
	}
	reader_add_stats(reader, &stats);
	ck_assert_uint_eq(stats.files_failed, 1);
	ck_assert_uint_eq(stats.crashes, 1);
	ck_assert_uint_eq(stats.starts, 2);
}
END_TEST

Suite *table_wire_suite(void)
{
	Suite *suite = suite_create("table_wire");
	TCase *tcase = tcase_create("table_wire");

	tcase_add_test(tcase, there_and_back);
	tcase_add_test(tcase, cut_short);
	tcase_add_loop_test(tcase, forged, 0, sizeof(forgeries) / sizeof(*forgeries));
	tcase_add_test(tcase, past_all_addresses);
	tcase_add_test(tcase, by_a_reader);
	tcase_add_test(tcase, without_memory);
	suite_add_tcase(suite, tcase);
	return suite;
}
