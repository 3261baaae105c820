/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From a row to an operation: rows that fit inline, rows that need a rule, and rows that no rule
 * can express.
 */
#include "unwind/op.h"

#include "tests/unit/rows.h"
#include "tests/unit/suites.h"

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
		/* Rows that do not fit inline get a rule. */
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
		/* Rows that no rule can express. */
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
		/* Operations with a name. */
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

START_TEST(only_what_is_inline_is_chained)
{
	struct frame_row row = {0, 1, CFA(SP, 8), SAME, RA, false, true};
	struct unwind_rule rule;

	ck_assert_uint_eq(op_of_row(MACHINE_X86_64, &row, &rule), PLAIN(1) | X86_CHAINED);
	row.fp = AT(-16);
	ck_assert_uint_eq(op_of_row(MACHINE_X86_64, &row, &rule), PLAIN(1) | X86_CHAINED | 2);
	row.cfa = CFA(FP, X86_CFA_MAX * 8LL);
	row.fp = AT(-X86_FP_MAX * 8LL);
	ck_assert_uint_eq(op_of_row(MACHINE_X86_64, &row, &rule),
	                  1 << OP_BASE_SHIFT | PLAIN(X86_CFA_MAX) | X86_CHAINED | X86_FP_MAX);
	/* Neither a rule nor a named operation has room for this bit. */
	row.cfa = CFA(SP, 12);
	ck_assert_uint_eq(op_of_row(MACHINE_X86_64, &row, &rule), RULE);
	row.signal_frame = true;
	ck_assert_uint_eq(op_of_row(MACHINE_X86_64, &row, &rule), OP_OF_NAME(OP_SIGNAL));
	row.signal_frame = false;
	row.ra = SAVE(SAVE_UNDEFINED, 0, 0);
	ck_assert_uint_eq(op_of_row(MACHINE_X86_64, &row, &rule), OP_OF_NAME(OP_STOP));
	/* Only x86-64 has that bit. */
	row = (struct frame_row){0, 1, CFA(ARM64_REG_SP, 32), SAME, SAME, false, true};
	ck_assert_uint_eq(op_of_row(MACHINE_ARM64, &row, &rule), 2 << ARM64_CFA_SHIFT);
}
END_TEST

Suite *op_suite(void)
{
	Suite *suite = suite_create("op");
	TCase *tcase = tcase_create("op");

	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, operations_of_x86);
	tcase_add_test(tcase, operations_of_arm64);
	tcase_add_test(tcase, what_rules_say);
	tcase_add_test(tcase, only_what_is_inline_is_chained);
	suite_add_tcase(suite, tcase);
	return suite;
}
