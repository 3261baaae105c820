/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From rows to words: how blocks share rows and take over the row before them, what is refused; and
 * many random tables compared with an array of bytes.
 */
#include "unwind/table.h"

#include "tests/unit/rows.h"
#include "tests/unit/often.h"
#include "tests/unit/suites.h"

#include <errno.h>

/* Adds a row with the CFA sp + 8 * words. */
static void add(struct table_builder *builder, uint64_t start, uint64_t end, int64_t words)
{
	struct frame_row row = {start, end, CFA(SP, words * 8), SAME, RA, false, false};

	ASSERT_OFTEN(table_add(builder, &row) == 0);
}

static struct table *seal(struct table_builder *builder, uint64_t start, uint64_t end)
{
	struct table *table = NULL;

	ck_assert_int_eq(table_seal(builder, start, end, 1 << 20, &table), 0);
	return table;
}

START_TEST(words_of_a_small_table)
{
	_cleanup_(table_builder_freep) struct table_builder *builder =
		table_builder_new(MACHINE_X86_64);
	struct frame_row odd = {0x1420, 0x1430, CFA(SP, 12), SAME, RA, false, false};

	add(builder, 0x1010, 0x1020, 1);
	add(builder, 0x1020, 0x1330, 2);
	add(builder, 0x1330, 0x1400, 3);
	add(builder, 0x1400, 0x1420, 1);
	ck_assert_int_eq(table_add(builder, &odd), 0);
	odd.start = 0x1440;
	odd.end = 0x1441;
	ck_assert_int_eq(table_add(builder, &odd), 0);
	_cleanup_(table_freep) struct table *table = seal(builder, 0, 0x10000);

	ck_assert_uint_eq(table->text, 0x1000);
	ck_assert_uint_eq(table->blocks, 5);
	ck_assert_uint_eq(table->rule_count, 1);
	/* 5 words of index, 3 of alignment, 4 of the rule. The third block equals the second. The
	 * fifth block starts with the row of its first byte, and ends where the last row ends. */
	const uint32_t rule = RULE | 2;
	const uint32_t words[] = {
		12 << 8 | 2,
		15 << 8,
		15 << 8,
		15 << 8 | 0,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		NONE,
		0x10U << 24 | PLAIN(1),
		0x20U << 24 | PLAIN(2),
	};
	ck_assert_mem_eq(table->words, words, sizeof(*words) * 3);
	ck_assert_mem_eq(&table->words[12], &words[12], sizeof(*words) * 3);
	ck_assert_uint_eq(table->words[15], PLAIN(2));
	ck_assert_uint_eq(table->words[3], 16 << 8 | 1);
	ck_assert_uint_eq(table->words[17], 0x30U << 24 | PLAIN(3));
	ck_assert_uint_eq(table->words[4], 18 << 8 | 4);
	ck_assert_uint_eq(table->words[18], PLAIN(1));
	ck_assert_uint_eq(table->words[19], 0x20U << 24 | rule);
	ck_assert_uint_eq(table->words[20], 0x30U << 24 | NONE); /* a gap of 16 bytes is no
	                                                          * padding */
	ck_assert_uint_eq(table->words[21], 0x40U << 24 | rule);
	ck_assert_uint_eq(table->words[22], 0x41U << 24 | NONE);
	ck_assert_uint_eq(table->word_count, 23);
	ck_assert_int_eq(((struct unwind_rule *)&table->words[8])->cfa_offset, 12);
	ck_assert_uint_eq(table_find(table, 0xfff), NONE);
	ck_assert_uint_eq(table_find(table, 0x1500), NONE);
	ck_assert_uint_eq(table_find(table, 0), NONE);
	ck_assert_uint_eq(table_find(table, UINT64_MAX), NONE);
	ck_assert_uint_eq(table_find(table, 0x1425), rule);
}
END_TEST

START_TEST(which_row_holds)
{
	static const struct {
		struct {
			uint64_t start, end;
			int64_t words;
		} rows[4];
		struct {
			uint64_t at;
			uint32_t op;
		} finds[4];
	} cases[] = {
		/* The row that was added first holds: overlapping, inside and around others. */
		{{{0x100, 0x200, 1}, {0x180, 0x280, 2}},
	         {{0x180, PLAIN(1)}, {0x1ff, PLAIN(1)}, {0x200, PLAIN(2)}, {0x27f, PLAIN(2)}}},
		{{{0x140, 0x150, 1}, {0x100, 0x200, 2}},
	         {{0x13f, PLAIN(2)}, {0x140, PLAIN(1)}, {0x14f, PLAIN(1)}, {0x150, PLAIN(2)}}},
		{{{0x100, 0x200, 1}, {0x140, 0x150, 2}},
	         {{0x13f, PLAIN(1)}, {0x140, PLAIN(1)}, {0x150, PLAIN(1)}, {0x200, NONE}}},
		/* Rows are not added in order of address. */
		{{{0x300, 0x310, 3}, {0x100, 0x110, 1}, {0x200, 0x210, 2}},
	         {{0x100, PLAIN(1)}, {0x200, PLAIN(2)}, {0x300, PLAIN(3)}, {0x210, NONE}}},
		{{{0x100, 0x110, 1}, {0x300, 0x310, 3}, {0x200, 0x210, 2}, {0x310, 0x320, 4}},
	         {{0x200, PLAIN(2)}, {0x110, NONE}, {0x30f, PLAIN(3)}, {0x310, PLAIN(4)}}},
		/* Equal starts, equal rows. */
		{{{0x100, 0x180, 1}, {0x100, 0x200, 2}, {0x100, 0x300, 3}},
	         {{0x100, PLAIN(1)}, {0x180, PLAIN(2)}, {0x200, PLAIN(3)}, {0x300, NONE}}},
		/* Padding gets the row before it, a real gap none. */
		{{{0x100, 0x110, 1}, {0x11f, 0x130, 2}, {0x140, 0x150, 3}},
	         {{0x11e, PLAIN(1)}, {0x11f, PLAIN(2)}, {0x130, NONE}, {0x13f, NONE}}},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		_cleanup_(table_builder_freep) struct table_builder *builder =
			table_builder_new(MACHINE_X86_64);

		for (size_t j = 0; j < 4 && cases[i].rows[j].end; j++)
			add(builder, cases[i].rows[j].start, cases[i].rows[j].end,
			    cases[i].rows[j].words);
		_cleanup_(table_freep) struct table *table = seal(builder, 0, UINT64_MAX);
		for (size_t j = 0; j < 4; j++)
			ck_assert_msg(table_find(table, cases[i].finds[j].at) ==
			                      cases[i].finds[j].op,
			              "case %zu: %#lx is %#x", i, (long)cases[i].finds[j].at,
			              table_find(table, cases[i].finds[j].at));
	}
}
END_TEST

START_TEST(a_full_block)
{
	_cleanup_(table_builder_freep) struct table_builder *builder =
		table_builder_new(MACHINE_X86_64);

	for (uint64_t i = 0; i < 3 * BLOCK_BYTES; i++)
		add(builder, 0x4000 + i, 0x4000 + i + 1, (int64_t)i + 1);
	_cleanup_(table_freep) struct table *table = seal(builder, 0x4000, 0x4300);
	ck_assert_uint_eq(table->row_count, 3 * BLOCK_BYTES);
	for (uint64_t i = 0; i < 3 * BLOCK_BYTES; i++)
		ck_assert_uint_eq(table_find(table, 0x4000 + i), PLAIN(i + 1));
	for (size_t i = 0; i < 3; i++)
		ck_assert_uint_eq(table->words[i] & 255, 255);
}
END_TEST

START_TEST(refuses)
{
	_cleanup_(table_builder_freep) struct table_builder *builder =
		table_builder_new(MACHINE_X86_64);
	struct table *table = NULL;

	ck_assert_int_eq(table_seal(builder, 0, UINT64_MAX, 1000, &table), -ENODATA);
	add(builder, 5, 5, 1);
	add(builder, 6, 5, 1);
	ck_assert_int_eq(table_seal(builder, 0, UINT64_MAX, 1000, &table), -ENODATA);
	add(builder, 0x1000, 0x1100, 1);
	ck_assert_int_eq(table_seal(builder, 0x1100, 0x2000, 1000, &table), -ENODATA);
	ck_assert_int_eq(table_seal(builder, 0, 0x1000, 1000, &table), -ENODATA);
	ck_assert_int_eq(table_seal(builder, 0x2000, 0x1000, 1000, &table), -ENODATA);
	ck_assert_int_eq(table_seal(builder, 0, 0x2000, 4, &table), -E2BIG);
	ck_assert_int_eq(table_seal(builder, 0, 0x2000, 0, &table), -E2BIG);
	ck_assert_ptr_null(table);
	ck_assert_int_eq(table_seal(builder, 0, 0x2000, 5, &table), 0);
	ck_assert_uint_eq(table->word_count, 5);
	table_free(table);
	/* Also too large when only the rows do not fit. */
	add(builder, 0x1010, 0x1020, 2);
	add(builder, 0x1200, 0x1210, 3);
	ck_assert_int_eq(table_seal(builder, 0, 0x2000, SIZE_MAX, &table), 0);
	size_t words = table->word_count;
	table_free(table);
	ck_assert_int_eq(table_seal(builder, 0, 0x2000, words - 1, &table), -E2BIG);
	ck_assert_int_eq(table_seal(builder, 0, 0x2000, words, &table), 0);
	ck_assert_uint_eq(table->word_count, words);
	table_free(table);
	/* The index alone is too large. */
	add(builder, 0x1000 + (1ULL << 33), 0x1100 + (1ULL << 33), 1);
	ck_assert_int_eq(table_seal(builder, 0, UINT64_MAX, SIZE_MAX, &table), -E2BIG);
	/* Rows far outside the range do not matter, nor does one up to the last address. */
	add(builder, 1ULL << 60, 1ULL << 61, 1);
	add(builder, 0, UINT64_MAX, 7);
	_cleanup_(table_freep) struct table *near = seal(builder, 0x800, 0x1800);
	ck_assert_uint_eq(table_find(near, 0x1080), PLAIN(1));
	ck_assert_uint_eq(table_find(near, 0x1700), PLAIN(7));
	table_free(NULL);
	table_builder_free(NULL);
}
END_TEST

START_TEST(too_many_rules_are_no_rules)
{
	_cleanup_(table_builder_freep) struct table_builder *builder =
		table_builder_new(MACHINE_X86_64);

	for (int64_t i = 0; i < 70000; i++) {
		struct frame_row row = {(uint64_t)i, (uint64_t)i + 1, CFA(3, i), SAME,
		                        RA,          false,           false};

		ASSERT_OFTEN(table_add(builder, &row) == 0);
	}
	_cleanup_(table_freep) struct table *table = seal(builder, 0, 1 << 20);
	ck_assert_uint_eq(table->rule_count, 65536);
	ck_assert_uint_eq(table_find(table, 69999), UNKNOWN);
	for (uint64_t i = 0; i < 65536; i += 99) {
		uint32_t op = table_find(table, i);
		const struct unwind_rule *rule =
			(void *)&table->words[(op & OP_VALUE_MASK) * RULE_WORDS];

		ck_assert_uint_eq(op >> OP_BASE_SHIFT, OP_RULE);
		ck_assert_int_eq(rule->cfa_offset, (int)i);
	}
}
END_TEST

enum { SPAN = 2048, BEGIN = 0x1234 };

/* The operation that holds at each byte, found by painting the rows from the last to the first. */
static void paint(uint32_t ops[SPAN], const struct frame_row *rows, size_t count)
{
	size_t gap = 0;

	for (size_t i = 0; i < SPAN; i++)
		ops[i] = NONE;
	while (count-- > 0) {
		for (uint64_t at = rows[count].start; at < rows[count].end; at++)
			ops[at - BEGIN] = PLAIN(rows[count].cfa.offset / 8);
	}
	for (size_t i = 0; i < SPAN; i++) {
		if (ops[i] == NONE) {
			gap++;
			continue;
		}
		if (gap < TABLE_PADDING && gap < i) {
			for (size_t j = i - gap; j < i; j++)
				ops[j] = ops[i - gap - 1];
		}
		gap = 0;
	}
}

START_TEST(as_painted)
{
	unsigned state = (unsigned)_i + 1;

	for (int round = 0; round < 200; round++) {
		_cleanup_(table_builder_freep) struct table_builder *builder =
			table_builder_new(MACHINE_X86_64);
		struct frame_row rows[64];
		uint32_t ops[SPAN];

		state = state * 1103515245 + 12345;
		size_t count = (state >> 16) % 64 + 1, most = (state >> 10) % 300 + 1;
		for (size_t i = 0; i < count; i++) {
			state = state * 1103515245 + 12345;
			uint64_t start = (state >> 8) % (SPAN - most);
			state = state * 1103515245 + 12345;
			uint64_t len = (state >> 8) % most + 1;
			rows[i] = (struct frame_row){BEGIN + start,
			                             BEGIN + start + len,
			                             CFA(SP, 8 * (1 + (state >> 24) % 3)),
			                             SAME,
			                             RA,
			                             false,
			                             false};
			ASSERT_OFTEN(table_add(builder, &rows[i]) == 0);
		}
		_cleanup_(table_freep) struct table *table = seal(builder, BEGIN, BEGIN + SPAN);
		paint(ops, rows, count);
		for (size_t i = 0; i < SPAN; i++)
			ASSERT_OFTEN(table_find(table, BEGIN + i) == ops[i]);
	}
}
END_TEST

Suite *table_suite(void)
{
	Suite *suite = suite_create("table");
	TCase *tcase = tcase_create("table");

	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, words_of_a_small_table);
	tcase_add_test(tcase, which_row_holds);
	tcase_add_test(tcase, a_full_block);
	tcase_add_test(tcase, refuses);
	tcase_add_test(tcase, too_many_rules_are_no_rules);
	tcase_add_loop_test(tcase, as_painted, 0, 10);
	suite_add_tcase(suite, tcase);
	return suite;
}
