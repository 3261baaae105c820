/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From rows to words: which operation says what, how blocks share and carry in, what is refused;
 * and many random tables compared with an array of bytes.
 */
#include "unwind/table.h"

#include "tests/unit/elf_image.h"
#include "tests/unit/suites.h"
#include "unwind/op.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define SP                      X86_REG_SP
#define FP                      X86_REG_FP
#define CFA(reg, offset)        ((struct cfa){CFA_REGISTER, reg, offset, 0})
#define SAVE(kind, reg, offset) ((struct save){kind, reg, offset})
#define SAME                    SAVE(SAVE_SAME, 0, 0)
#define AT(off)                 SAVE(SAVE_AT_CFA, 0, off)
#define RA                      AT(-8)
#define NONE                    OP_OF_NAME(OP_NONE)
#define UNKNOWN                 OP_OF_NAME(OP_UNSUPPORTED)
#define RULE                    ((uint32_t)OP_RULE << OP_BASE_SHIFT)
/* sp + 8 * n, nothing saved but the return address. */
#define PLAIN(n) ((uint32_t)(n) << X86_CFA_SHIFT)

START_TEST(operations_of_x86)
{
	static const struct {
		struct cfa cfa;
		struct save fp, ra;
		bool signal;
		uint32_t op;
	} cases[] = {
		{{CFA_REGISTER, SP, 8, 0},
	         {SAVE_SAME, 0, 0},
	         {SAVE_AT_CFA, 0, -8},
	         false,
	         1 << X86_CFA_SHIFT},
		{{CFA_REGISTER, SP, 16, 0},
	         {SAVE_AT_CFA, 0, -16},
	         {SAVE_AT_CFA, 0, -8},
	         false,
	         2 << X86_CFA_SHIFT | 2},
		{{CFA_REGISTER, FP, 16, 0},
	         {SAVE_AT_CFA, 0, -16},
	         {SAVE_AT_CFA, 0, -8},
	         false,
	         1 << 22 | 2 << X86_CFA_SHIFT | 2},
		{{CFA_REGISTER, SP, 4095 * 8, 0},
	         {SAVE_AT_CFA, 0, -511 * 8},
	         {SAVE_AT_CFA, 0, -8},
	         false,
	         4095 << X86_CFA_SHIFT | 511},
		{{CFA_REGISTER, SP, 0, 0}, {SAVE_UNDEFINED, 0, 0}, {SAVE_AT_CFA, 0, -8}, false, 0},
		/* What does not fit is a rule. */
		{{CFA_REGISTER, SP, 4096 * 8, 0},
	         {SAVE_SAME, 0, 0},
	         {SAVE_AT_CFA, 0, -8},
	         false,
	         RULE},
		{{CFA_REGISTER, SP, 12, 0}, {SAVE_SAME, 0, 0}, {SAVE_AT_CFA, 0, -8}, false, RULE},
		{{CFA_REGISTER, SP, -8, 0}, {SAVE_SAME, 0, 0}, {SAVE_AT_CFA, 0, -8}, false, RULE},
		{{CFA_REGISTER, SP, 8, 0},
	         {SAVE_AT_CFA, 0, -512 * 8},
	         {SAVE_AT_CFA, 0, -8},
	         false,
	         RULE},
		{{CFA_REGISTER, SP, 8, 0}, {SAVE_AT_CFA, 0, 8}, {SAVE_AT_CFA, 0, -8}, false, RULE},
		{{CFA_REGISTER, SP, 8, 0}, {SAVE_AT_CFA, 0, 0}, {SAVE_AT_CFA, 0, -8}, false, RULE},
		{{CFA_REGISTER, SP, 8, 0}, {SAVE_SAME, 0, 0}, {SAVE_AT_CFA, 0, -16}, false, RULE},
		{{CFA_REGISTER, SP, 8, 0}, {SAVE_SAME, 0, 0}, {SAVE_IN, 5, 0}, false, RULE},
		{{CFA_REGISTER, SP, 8, 0}, {SAVE_OTHER, 0, 0}, {SAVE_AT_CFA, 0, -8}, false, RULE},
		{{CFA_REGISTER, 10, 0, 0}, {SAVE_AT, 6, 0}, {SAVE_AT_CFA, 0, -8}, false, RULE},
		{{CFA_DEREF, SP, 8, 8}, {SAVE_SAME, 0, 0}, {SAVE_AT_CFA, 0, -8}, false, RULE},
		/* What no rule can say. */
		{{CFA_OTHER, 0, 0, 0}, {SAVE_SAME, 0, 0}, {SAVE_AT_CFA, 0, -8}, false, UNKNOWN},
		{{CFA_REGISTER, SP, 8, 0}, {SAVE_SAME, 0, 0}, {SAVE_OTHER, 0, 0}, false, UNKNOWN},
		{{CFA_REGISTER, SP, 8, 0}, {SAVE_SAME, 0, 0}, {SAVE_SAME, 0, 0}, false, UNKNOWN},
		{{CFA_REGISTER, MAX_REGS, 8, 0},
	         {SAVE_SAME, 0, 0},
	         {SAVE_AT_CFA, 0, -8},
	         false,
	         UNKNOWN},
		{{CFA_REGISTER, SP, 1LL << 31, 0},
	         {SAVE_SAME, 0, 0},
	         {SAVE_AT_CFA, 0, -8},
	         false,
	         UNKNOWN},
		{{CFA_REGISTER, SP, INT64_MIN, 0},
	         {SAVE_SAME, 0, 0},
	         {SAVE_AT_CFA, 0, -8},
	         false,
	         UNKNOWN},
		{{CFA_DEREF, SP, 8, 32768},
	         {SAVE_SAME, 0, 0},
	         {SAVE_AT_CFA, 0, -8},
	         false,
	         UNKNOWN},
		{{CFA_REGISTER, SP, 8, 0},
	         {SAVE_SAME, 0, 0},
	         {SAVE_AT_CFA, 0, -32776},
	         false,
	         UNKNOWN},
		{{CFA_REGISTER, SP, 8, 0},
	         {SAVE_AT_CFA, 0, INT64_MIN},
	         {SAVE_AT_CFA, 0, -8},
	         false,
	         UNKNOWN},
		{{CFA_REGISTER, SP, 8, 0}, {SAVE_IN, 200, 0}, {SAVE_AT_CFA, 0, -8}, false, UNKNOWN},
		/* Those with a name. */
		{{CFA_OTHER, 0, 0, 0},
	         {SAVE_OTHER, 0, 0},
	         {SAVE_UNDEFINED, 0, 0},
	         false,
	         OP_OF_NAME(OP_STOP)},
		{{CFA_OTHER, 0, 0, 0},
	         {SAVE_OTHER, 0, 0},
	         {SAVE_UNDEFINED, 0, 0},
	         true,
	         OP_OF_NAME(OP_SIGNAL)},
		{{CFA_PLT, SP, 11, 0},
	         {SAVE_SAME, 0, 0},
	         {SAVE_AT_CFA, 0, -8},
	         false,
	         OP_OF_NAME(OP_PLT) | 11 << 8},
		{{CFA_PLT, SP, -1, 0}, {SAVE_SAME, 0, 0}, {SAVE_AT_CFA, 0, -8}, false, UNKNOWN},
		{{CFA_PLT, SP, 256, 0}, {SAVE_SAME, 0, 0}, {SAVE_AT_CFA, 0, -8}, false, UNKNOWN},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct frame_row row = {
			0, 1, cases[i].cfa, cases[i].fp, cases[i].ra, cases[i].signal, false};
		struct unwind_rule rule;

		ck_assert_msg(op_of_row(MACHINE_X86_64, &row, &rule) == cases[i].op,
		              "case %zu: %#x", i, op_of_row(MACHINE_X86_64, &row, &rule));
	}
}
END_TEST

START_TEST(operations_of_arm64)
{
	enum { LR = ARM64_REG_LR, X29 = ARM64_REG_FP, SP64 = ARM64_REG_SP };
	static const struct {
		struct cfa cfa;
		struct save fp, ra;
		uint32_t op;
	} cases[] = {
		{{CFA_REGISTER, SP64, 0, 0}, {SAVE_SAME, 0, 0}, {SAVE_SAME, 0, 0}, 0},
		{{CFA_REGISTER, SP64, 32, 0}, {SAVE_SAME, 0, 0}, {SAVE_IN, LR, 0}, 2 << 11},
		{{CFA_REGISTER, SP64, 32, 0},
	         {SAVE_AT_CFA, 0, -32},
	         {SAVE_AT_CFA, 0, -24},
	         2 << 11 | 3 << 1 | 1},
		{{CFA_REGISTER, X29, 16, 0},
	         {SAVE_AT_CFA, 0, -16},
	         {SAVE_AT_CFA, 0, -8},
	         1 << 22 | 1 << 11 | 1 << 1 | 1},
		{{CFA_REGISTER, SP64, 2047 * 16, 0},
	         {SAVE_AT_CFA, 0, -1024 * 8},
	         {SAVE_AT_CFA, 0, -1023 * 8},
	         2047 << 11 | 1023 << 1 | 1},
		{{CFA_REGISTER, SP64, 32, 0},
	         {SAVE_SAME, 0, 0},
	         {SAVE_AT_CFA, 0, -32},
	         2 << 11 | 4 << 1},
		{{CFA_REGISTER, SP64, 8, 0}, {SAVE_SAME, 0, 0}, {SAVE_SAME, 0, 0}, RULE},
		{{CFA_REGISTER, SP64, 2048 * 16, 0}, {SAVE_SAME, 0, 0}, {SAVE_SAME, 0, 0}, RULE},
		{{CFA_REGISTER, SP64, 32, 0}, {SAVE_AT_CFA, 0, -8}, {SAVE_SAME, 0, 0}, RULE},
		{{CFA_REGISTER, SP64, 32, 0}, {SAVE_AT_CFA, 0, -8}, {SAVE_AT_CFA, 0, -16}, RULE},
		{{CFA_REGISTER, SP64, 32, 0}, {SAVE_SAME, 0, 0}, {SAVE_IN, 17, 0}, RULE},
		{{CFA_PLT, SP64, 11, 0}, {SAVE_SAME, 0, 0}, {SAVE_SAME, 0, 0}, UNKNOWN},
		{{CFA_REGISTER, SP64, 0, 0},
	         {SAVE_SAME, 0, 0},
	         {SAVE_UNDEFINED, 0, 0},
	         OP_OF_NAME(OP_STOP)},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct frame_row row = {0, 1, cases[i].cfa, cases[i].fp, cases[i].ra, false, false};
		struct unwind_rule rule;

		ck_assert_msg(op_of_row(MACHINE_ARM64, &row, &rule) == cases[i].op, "case %zu: %#x",
		              i, op_of_row(MACHINE_ARM64, &row, &rule));
	}
}
END_TEST

START_TEST(what_rules_say)
{
	struct unwind_rule rule;
	struct frame_row row = {
		0, 1, {CFA_DEREF, SP, -40000, -8}, AT(-32), SAVE(SAVE_IN, 5, 0), false, false};

	ck_assert_uint_eq(op_of_row(MACHINE_X86_64, &row, &rule), RULE);
	ck_assert(rule.cfa == RULE_CFA_DEREF && rule.cfa_register == SP);
	ck_assert(rule.cfa_offset == -40000 && rule.cfa_add == -8);
	ck_assert(rule.fp == RULE_AT_CFA && rule.fp_register == 0 && rule.fp_offset == -32);
	ck_assert(rule.ra == RULE_IN_REGISTER && rule.ra_register == 5 && rule.ra_offset == 0);

	row = (struct frame_row){0, 1, CFA(10, 1 << 20), SAVE(SAVE_AT, FP, 24), RA, false, false};
	ck_assert_uint_eq(op_of_row(MACHINE_X86_64, &row, &rule), RULE);
	ck_assert(rule.cfa == RULE_CFA_REGISTER && rule.cfa_register == 10 && rule.cfa_add == 0);
	ck_assert(rule.fp == RULE_AT_REGISTER && rule.fp_register == FP && rule.fp_offset == 24);
	ck_assert(rule.ra == RULE_AT_CFA && rule.ra_offset == -8);

	/* An unknown frame pointer must not pass for the caller's. */
	row = (struct frame_row){0, 1, CFA(SP, 16), SAVE(SAVE_OTHER, 0, 0), RA, false, false};
	op_of_row(MACHINE_X86_64, &row, &rule);
	ck_assert(rule.fp == RULE_IN_REGISTER && rule.fp_register == X86_REG_PC);
	row = (struct frame_row){0, 1, CFA(ARM64_REG_SP, 8), SAME, SAME, false, false};
	op_of_row(MACHINE_ARM64, &row, &rule);
	ck_assert(rule.ra == RULE_IN_REGISTER && rule.ra_register == ARM64_REG_LR);
}
END_TEST

/* A row of sp + 8 * words. */
static void add(struct table_builder *builder, uint64_t start, uint64_t end, int64_t words)
{
	struct frame_row row = {start, end, CFA(SP, words * 8), SAME, RA, false, false};

	ck_assert_int_eq(table_add(builder, &row), 0);
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
	/* 5 of the index and 3 to align, 4 of the rule. The third block is like the second. The
	 * fifth begins with the row of its first byte, and ends where the last row does. */
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
	ck_assert_uint_eq(table->words[20], 0x30U << 24 | NONE); /* 16 bytes: no padding */
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
		/* Added first holds, over, under and across. */
		{{{0x100, 0x200, 1}, {0x180, 0x280, 2}},
	         {{0x180, PLAIN(1)}, {0x1ff, PLAIN(1)}, {0x200, PLAIN(2)}, {0x27f, PLAIN(2)}}},
		{{{0x140, 0x150, 1}, {0x100, 0x200, 2}},
	         {{0x13f, PLAIN(2)}, {0x140, PLAIN(1)}, {0x14f, PLAIN(1)}, {0x150, PLAIN(2)}}},
		{{{0x100, 0x200, 1}, {0x140, 0x150, 2}},
	         {{0x13f, PLAIN(1)}, {0x140, PLAIN(1)}, {0x150, PLAIN(1)}, {0x200, NONE}}},
		/* Not by address. */
		{{{0x300, 0x310, 3}, {0x100, 0x110, 1}, {0x200, 0x210, 2}},
	         {{0x100, PLAIN(1)}, {0x200, PLAIN(2)}, {0x300, PLAIN(3)}, {0x210, NONE}}},
		{{{0x100, 0x110, 1}, {0x300, 0x310, 3}, {0x200, 0x210, 2}, {0x310, 0x320, 4}},
	         {{0x200, PLAIN(2)}, {0x110, NONE}, {0x30f, PLAIN(3)}, {0x310, PLAIN(4)}}},
		/* Equal starts, equal rows. */
		{{{0x100, 0x180, 1}, {0x100, 0x200, 2}, {0x100, 0x300, 3}},
	         {{0x100, PLAIN(1)}, {0x180, PLAIN(2)}, {0x200, PLAIN(3)}, {0x300, NONE}}},
		/* Padding takes the row before, a real gap none. */
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
	/* The index alone would be too large. */
	add(builder, 0x1000 + (1ULL << 33), 0x1100 + (1ULL << 33), 1);
	ck_assert_int_eq(table_seal(builder, 0, UINT64_MAX, SIZE_MAX, &table), -E2BIG);
	/* So far away that it cannot matter; the end of all addresses. */
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

		ck_assert_int_eq(table_add(builder, &row), 0);
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

/* What holds at each byte, by painting the rows from the last to the first. */
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
			ck_assert_int_eq(table_add(builder, &rows[i]), 0);
		}
		_cleanup_(table_freep) struct table *table = seal(builder, BEGIN, BEGIN + SPAN);
		paint(ops, rows, count);
		for (size_t i = 0; i < SPAN; i++)
			ck_assert_uint_eq(table_find(table, BEGIN + i), ops[i]);
	}
}
END_TEST

START_TEST(of_this_program)
{
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	_cleanup_(elf_freep) struct elf *elf = NULL;
	_cleanup_(table_freep) struct table *table = NULL;
	struct elf_image image;
	size_t count;
	uint64_t own = 0;

	ck_assert_int_eq(elf_open_fd(fd, &elf), 0);
	ck_assert_int_eq(table_build(elf, true, 1 << 24, &table), 0);
	ck_assert_uint_gt(table->row_count, 1000);
	ck_assert_uint_ge(table->word_count, table->blocks + table->row_count);
	/* A function's first byte: nothing is on the stack but the return address. */
	const struct segment *segments = elf_segments(elf, &count);
	for (size_t i = 0; i < count; i++)
		own = segments[i].offset == 0 ? segments[i].address : own;
	extern const char __executable_start[];
	own += (uint64_t)(uintptr_t)table_find - (uint64_t)(uintptr_t)__executable_start;
	if (elf_machine(elf) == 62)
		ck_assert_uint_eq(table_find(table, own), PLAIN(1));
	ck_assert_int_eq(table_build(elf, true, 100, &table), -E2BIG);

	_cleanup_(elf_freep) struct elf *bare = NULL;
	_cleanup_(table_freep) struct table *none = NULL;
	elf_image_init(&image, 1);
	ck_assert_int_eq(elf_open_bytes(&image, sizeof(image), &bare), 0);
	int err = table_build(bare, true, 1 << 20, &none);
	ck_assert(err == 0 || err == -ENODATA);
}
END_TEST

Suite *table_suite(void)
{
	Suite *suite = suite_create("table");
	TCase *tcase = tcase_create("table");

	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, operations_of_x86);
	tcase_add_test(tcase, operations_of_arm64);
	tcase_add_test(tcase, what_rules_say);
	tcase_add_test(tcase, words_of_a_small_table);
	tcase_add_test(tcase, which_row_holds);
	tcase_add_test(tcase, a_full_block);
	tcase_add_test(tcase, refuses);
	tcase_add_test(tcase, too_many_rules_are_no_rules);
	tcase_add_loop_test(tcase, as_painted, 0, 10);
	tcase_add_test(tcase, of_this_program);
	suite_add_tcase(suite, tcase);
	return suite;
}
