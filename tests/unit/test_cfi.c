/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Call frame instructions and expressions, alone and combined, correct and hostile.
 */
#include "cfi/cfi.h"
#include "cfi/cfi_expression.h"
#include "elf/dwarf.h"
#include "tests/unit/frame_text.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})
/* clang-format on */
#define BREG(n)    (DW_OP_breg0 + (n))
#define LIT(n)     (DW_OP_lit0 + (n))
#define ADVANCE(n) (DW_CFA_advance_loc | (n))
#define OFFSET(n)  (DW_CFA_offset | (n))
#define RESTORE(n) (DW_CFA_restore | (n))

/* x86-64's CIE as every compiler writes it: code alignment 1, data alignment -8, CFA r7+8, RA saved
 * at CFA-8. */
static struct cfi_common usual(void)
{
	const uint8_t bytes[] = {DW_CFA_def_cfa, 7, 8, OFFSET(16), 1, DW_CFA_nop, DW_CFA_nop};
	struct cfi_code code = {bytes, sizeof(bytes), 0};
	struct cfi_common common = {.code_align = 1,
	                            .data_align = -8,
	                            .fp_register = 6,
	                            .ra_register = 16,
	                            .pointer_encoding = DW_EH_PE_absptr,
	                            .address_bytes = 8};

	ck_assert_int_eq(cfi_begin(&common, &code), 0);
	return common;
}

struct example {
	const char *rows; /* for [0x100, 0x110) */
	const uint8_t *bytes;
	size_t len;
};

static const struct example examples[] = {
	{"100-110 r7+8 = c-8;", NULL, 0},
	{"100-110 r7+8 = c-8;", BYTES(DW_CFA_nop, DW_CFA_nop)},
	/* A function with a frame pointer. */
	{"100-101 r7+8 = c-8;101-104 r7+16 c-16 c-8;104-10f r6+16 c-16 c-8;10f-110 r7+8 c-16 c-8;",
         BYTES(ADVANCE(1), DW_CFA_def_cfa_offset, 16, OFFSET(6), 2, ADVANCE(3),
               DW_CFA_def_cfa_register, 6, ADVANCE(11), DW_CFA_def_cfa, 7, 8)},
	/* Every instruction that advances. */
	{"100-101 r7+8 = c-8;101-103 r7+1 = c-8;103-106 r7+2 = c-8;106-10a r7+3 = c-8;"
         "10a-10f r7+4 = c-8;10f-110 r7+5 = c-8;",
         BYTES(DW_CFA_advance_loc1, 1, DW_CFA_def_cfa_offset, 1, DW_CFA_advance_loc2, 2, 0,
               DW_CFA_def_cfa_offset, 2, DW_CFA_advance_loc4, 3, 0, 0, 0, DW_CFA_def_cfa_offset, 3,
               DW_CFA_MIPS_advance_loc8, 4, 0, 0, 0, 0, 0, 0, 0, DW_CFA_def_cfa_offset, 4,
               DW_CFA_set_loc, 0x0f, 1, 0, 0, 0, 0, 0, 0, DW_CFA_def_cfa_offset, 5)},
	/* Advancing by zero makes no row, and equal neighbours make one row. */
	{"100-102 r7+24 = c-8;102-110 r7+8 = c-8;",
         BYTES(ADVANCE(0), DW_CFA_def_cfa_offset, 24, ADVANCE(1), ADVANCE(1), DW_CFA_def_cfa_offset,
               8, ADVANCE(4), DW_CFA_def_cfa_offset, 8)},
	/* Advancing past the end. */
	{"100-108 r7+8 = c-8;108-110 r7+16 = c-8;",
         BYTES(ADVANCE(8), DW_CFA_def_cfa_offset, 16, ADVANCE(8), DW_CFA_def_cfa_offset, 24)},
	{"100-110 r7+8 = c-8;", BYTES(DW_CFA_advance_loc4, 255, 255, 255, 255, OFFSET(6), 2)},
	{"100-110 r7+8 = c-8;",
         BYTES(DW_CFA_MIPS_advance_loc8, 255, 255, 255, 255, 255, 255, 255, 255)},
	/* Rules for the CFA. */
	{"100-110 r200+8 = c-8;", BYTES(DW_CFA_def_cfa_register, 0xc8, 1)},
	{"100-110 ? = c-8;", BYTES(DW_CFA_def_cfa_register, 0x80, 2)},
	{"100-110 r10+0 = c-8;", BYTES(DW_CFA_def_cfa, 10, 0)},
	{"100-110 r10+16 = c-8;", BYTES(DW_CFA_def_cfa_sf, 10, 0x7e)},
	{"100-110 r7-24 = c-8;", BYTES(DW_CFA_def_cfa_offset_sf, 3)},
	{"100-110 r7+8192 = c-8;", BYTES(DW_CFA_def_cfa_offset, 0x80, 0xc0, 0)},
	{"100-110 [r6-8]+0 = c-8;",
         BYTES(DW_CFA_def_cfa_expression, 3, BREG(6), 0x78, DW_OP_deref)},
	/* An offset when the CFA is not a register. */
	{"100-110 ? = c-8;", BYTES(DW_CFA_def_cfa_expression, 1, LIT(0), DW_CFA_def_cfa_offset, 8)},
	/* Rules for registers, including registers that are not needed. */
	{"100-110 r7+8 c-16 c-8;", BYTES(OFFSET(3), 4, OFFSET(6), 2, OFFSET(15), 9)},
	{"100-110 r7+8 c-16 c-24;",
         BYTES(DW_CFA_offset_extended, 6, 2, DW_CFA_offset_extended, 16, 3)},
	{"100-110 r7+8 c+16 c-8;", BYTES(DW_CFA_offset_extended_sf, 6, 0x7e)},
	{"100-110 r7+8 c+16 c-8;", BYTES(DW_CFA_GNU_negative_offset_extended, 6, 2)},
	{"100-110 r7+8 = c-8;", BYTES(OFFSET(6), 2, OFFSET(16), 5, RESTORE(6), RESTORE(16))},
	{"100-110 r7+8 = c-8;",
         BYTES(OFFSET(6), 2, DW_CFA_restore_extended, 6, DW_CFA_restore_extended, 99)},
	{"100-110 r7+8 = u;", BYTES(DW_CFA_undefined, 16)},
	{"100-110 r7+8 u c-8;", BYTES(DW_CFA_undefined, 6, DW_CFA_undefined, 0)},
	{"100-110 r7+8 = c-8;", BYTES(OFFSET(6), 2, DW_CFA_same_value, 6)},
	/* The caller's stack pointer is in r8 and the CFA has no meaning, as in longjmp(). */
	{"100-110 r8+0 r9 r1;", BYTES(DW_CFA_def_cfa, 5, 0, DW_CFA_register, 7, 8, DW_CFA_register,
                                      6, 9, DW_CFA_register, 16, 1)},
	{"100-110 r7+8 r9 r5;", BYTES(DW_CFA_register, 16, 5, DW_CFA_register, 6, 9)},
	{"100-110 r7+8 = ?;", BYTES(DW_CFA_register, 16, 0x80, 8)},
	{"100-110 r7+8 [r7+120] [r7+168];", BYTES(DW_CFA_expression, 6, 3, BREG(7), 0xf8, 0,
                                                  DW_CFA_expression, 16, 3, BREG(7), 0xa8, 1)},
	{"100-110 r7+8 r10 c-8;", BYTES(DW_CFA_val_expression, 6, 2, BREG(10), 0)},
	{"100-110 r7+8 ? c-8;", BYTES(DW_CFA_val_offset, 6, 2)},
	{"100-110 r7+8 ? c-8;", BYTES(DW_CFA_val_offset_sf, 6, 2)},
	/* Instructions that are skipped, with their operands. */
	{"100-110 r7+16 = c-8;",
         BYTES(DW_CFA_GNU_args_size, 0x90, 0x01, DW_CFA_AARCH64_negate_ra_state, 0x2c,
               DW_CFA_expression, 3, 2, BREG(7), 8, DW_CFA_val_expression, 0, 1, LIT(1),
               DW_CFA_val_offset, 3, 3, DW_CFA_def_cfa_offset, 16)},
	/* The whole state is restored, including the CFA. */
	{"100-102 r7+16 c-16 c-8;102-104 r6+99 = c-8;104-110 r7+16 c-16 c-8;",
         BYTES(DW_CFA_def_cfa_offset, 16, OFFSET(6), 2, DW_CFA_remember_state, ADVANCE(2),
               DW_CFA_def_cfa, 6, 99, RESTORE(6), ADVANCE(2), DW_CFA_restore_state)},
};

START_TEST(instructions)
{
	const struct example *example = &examples[_i];
	struct cfi_common common = usual();
	struct cfi_code code = {example->bytes, example->len, 0x5000};
	struct frame_text text = {.count = 0};

	ck_assert_int_eq(cfi_each_row(&common, &code, 0x100, 0x110, frame_text_row, &text), 0);
	ck_assert_str_eq(text.text, example->rows);
}
END_TEST

/* The rows before the mistake are reported. */
static const struct example broken[] = {
	{"", BYTES(0x17)},
	{"", BYTES(0x3f)},
	{"", BYTES(DW_CFA_def_cfa, 7)},
	{"", BYTES(DW_CFA_def_cfa_offset)},
	{"", BYTES(OFFSET(6))},
	{"", BYTES(DW_CFA_def_cfa_offset, 0x80, 0x80, 0x80)},
	{"", BYTES(DW_CFA_advance_loc4, 1, 0)},
	{"", BYTES(DW_CFA_set_loc, 1, 0, 0)},
	{"", BYTES(DW_CFA_def_cfa_expression, 200, BREG(7), 8)},
	{"", BYTES(DW_CFA_expression, 6, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1)},
	{"", BYTES(DW_CFA_restore_state)},
	{"", BYTES(10, 10, 10, 10, 10, 10, 10, 10, 10)},
	{"100-102 r7+8 = c-8;", BYTES(ADVANCE(2), DW_CFA_def_cfa_offset, 16, 0x17)},
	{"100-102 r7+8 = c-8;102-104 r7+16 = c-8;",
         BYTES(ADVANCE(2), DW_CFA_def_cfa_offset, 16, ADVANCE(2), DW_CFA_restore_state)},
	/* Going backwards. */
	{"100-108 r7+8 = c-8;", BYTES(ADVANCE(8), DW_CFA_set_loc, 4, 1, 0, 0, 0, 0, 0, 0)},
};

START_TEST(mistakes)
{
	const struct example *example = &broken[_i];
	struct cfi_common common = usual();
	struct cfi_code code = {example->bytes, example->len, 0};
	struct frame_text text = {.count = 0};

	ck_assert_int_eq(cfi_each_row(&common, &code, 0x100, 0x110, frame_text_row, &text),
	                 -EBADMSG);
	ck_assert_str_eq(text.text, example->rows);
}
END_TEST

START_TEST(common_entries)
{
	struct cfi_common common = usual();
	const uint8_t moves[] = {DW_CFA_def_cfa, 7, 8, ADVANCE(1)};
	struct cfi_code code = {moves, sizeof(moves), 0};
	struct frame_text text = {.count = 0, .stop_after = 2};

	ck_assert_int_eq(cfi_begin(&common, &code), -EBADMSG);
	/* arm64: code alignment 4, the return address stays in its register, x29 and x30 are saved
	 * as a pair. */
	const uint8_t begin[] = {DW_CFA_def_cfa, 31, 0};
	code = (struct cfi_code){begin, sizeof(begin), 0};
	common = (struct cfi_common){
		.code_align = 4, .data_align = -8, .fp_register = 29, .ra_register = 30};
	common.signal_frame = true;
	ck_assert_int_eq(cfi_begin(&common, &code), 0);
	const uint8_t body[] = {DW_CFA_AARCH64_negate_ra_state,
	                        ADVANCE(2),
	                        DW_CFA_def_cfa_offset,
	                        32,
	                        OFFSET(29),
	                        4,
	                        OFFSET(30),
	                        3,
	                        ADVANCE(1),
	                        DW_CFA_def_cfa_offset,
	                        0};
	code = (struct cfi_code){body, sizeof(body), 0};
	ck_assert_int_eq(cfi_each_row(&common, &code, 0, 64, frame_text_row, &text), 7);
	ck_assert_str_eq(text.text, "0-8 r31+0 = = S;8-c r31+32 c-32 c-24 S;");
}
END_TEST

struct expression {
	const char *cfa, *save, *value; /* as def_cfa_expression, expression, val_expression */
	const uint8_t *bytes;
	size_t len;
};

#define PC_LOW BREG(7), 8, BREG(16), 0, LIT(15), DW_OP_and
#define SHL3   LIT(3), DW_OP_shl

static const struct expression expressions[] = {
	{"?", "c+0", "?", NULL, 0},
	{"r6+16", "[r6+16]", "?", BYTES(BREG(6), 16)},
	{"r6+0", "[r6+0]", "r6", BYTES(BREG(6), 0)},
	{"r33-1", "[r33-1]", "?", BYTES(DW_OP_bregx, 33, 0x7f)},
	{"?", "?", "?", BYTES(DW_OP_bregx, 0x80, 2, 0)},
	{"[r6-8]+0", "?", "[r6-8]", BYTES(BREG(6), 0x78, DW_OP_deref)},
	{"[r6-8]+0", "?", "[r6-8]", BYTES(BREG(6), 0x78, DW_OP_deref_size, 8)},
	{"?", "?", "?", BYTES(BREG(6), 0x78, DW_OP_deref_size, 4)},
	/* Sums in every notation. */
	{"[r7+40]+8", "?", "?", BYTES(BREG(7), 40, DW_OP_deref, DW_OP_plus_uconst, 8)},
	{"[r7+40]+8", "?", "?", BYTES(BREG(7), 40, DW_OP_deref, LIT(8), DW_OP_plus)},
	{"[r7+40]+8", "?", "?", BYTES(LIT(8), BREG(7), 40, DW_OP_deref, DW_OP_plus)},
	{"[r7+40]-8", "?", "?", BYTES(BREG(7), 40, DW_OP_deref, DW_OP_const1s, 0xf8, DW_OP_plus)},
	{"[r7+40]-8", "?", "?", BYTES(BREG(7), 40, DW_OP_deref, LIT(8), DW_OP_minus)},
	{"[r7+44]+0", "?", "[r7+44]", BYTES(BREG(7), 40, LIT(4), DW_OP_plus, DW_OP_deref)},
	{"r7+300", "[r7+300]", "?", BYTES(BREG(7), 0, DW_OP_const2u, 0x2c, 1, DW_OP_plus)},
	{"r7-2", "[r7-2]", "?", BYTES(BREG(7), 0, DW_OP_const2s, 0xfe, 0xff, DW_OP_plus)},
	{"r7+1", "[r7+1]", "?", BYTES(BREG(7), 0, DW_OP_const4u, 1, 0, 0, 0, DW_OP_plus)},
	{"r7-1", "[r7-1]", "?", BYTES(BREG(7), 0, DW_OP_const4s, 255, 255, 255, 255, DW_OP_plus)},
	{"r7+2", "[r7+2]", "?",
         BYTES(BREG(7), 0, DW_OP_const8u, 2, 0, 0, 0, 0, 0, 0, 0, DW_OP_plus)},
	{"r7+200", "[r7+200]", "?", BYTES(BREG(7), 0, DW_OP_constu, 0xc8, 1, DW_OP_plus)},
	{"r7-1", "[r7-1]", "?", BYTES(BREG(7), 0, DW_OP_consts, 0x7f, DW_OP_plus)},
	{"r7+8", "[r7+8]", "?", BYTES(DW_OP_nop, LIT(1), BREG(7), 8, DW_OP_swap, DW_OP_drop)},
	{"r7+8", "[r7+8]", "?", BYTES(BREG(7), 8, LIT(1), DW_OP_over)},
	{"r7+8", "[r7+8]", "?", BYTES(BREG(7), 8, DW_OP_dup, LIT(0), DW_OP_pick, 2)},
	/* At first the CFA is on the stack in a register's expression, but not in the expression of
         * the CFA. */
	{"?", "c-16", "?", BYTES(LIT(16), DW_OP_minus)},
	{"?", "?", "c-16", BYTES(LIT(16), DW_OP_minus, DW_OP_deref)},
	/* The PLTs of the linkers, which differ in the offset at which an entry has pushed a
         * word. */
	{"plt11", "?", "?", BYTES(PC_LOW, LIT(11), DW_OP_ge, SHL3, DW_OP_plus)},
	{"plt10", "?", "?", BYTES(PC_LOW, LIT(10), DW_OP_ge, SHL3, DW_OP_plus)},
	{"plt6", "?", "?", BYTES(PC_LOW, LIT(5), DW_OP_gt, SHL3, DW_OP_plus)},
	{"?", "?", "?", BYTES(PC_LOW, LIT(16), DW_OP_ge, SHL3, DW_OP_plus)},
	{"?", "?", "?", BYTES(PC_LOW, LIT(11), DW_OP_ge, LIT(4), DW_OP_shl, DW_OP_plus)},
	{"?", "?", "?", BYTES(PC_LOW, LIT(11), DW_OP_le, SHL3, DW_OP_plus)},
	/* Expressions that no rule can represent. */
	{"?", "?", "?", BYTES(BREG(7), 8, BREG(9), 0, DW_OP_plus)},
	{"?", "?", "?", BYTES(BREG(7), 8, DW_OP_deref, DW_OP_deref)},
	{"?", "?", "?", BYTES(LIT(8))},
	{"?", "?", "?", BYTES(BREG(7), 8, DW_OP_skip, 0xfd, 0xff)},
	{"?", "?", "?", BYTES(DW_OP_reg0 + 7)},
	/* Truncated expressions, too few operands, invalid operations, too many values. */
	{"?", "?", "?", BYTES(BREG(7))},
	{"?", "?", "?", BYTES(BREG(7), 0x80)},
	{"?", "?", "?", BYTES(BREG(7), 8, DW_OP_const4u, 1)},
	{"?", "?", "?", BYTES(DW_OP_drop, DW_OP_drop)},
	{"?", "?", "?", BYTES(BREG(7), 8, DW_OP_pick, 200)},
	{"?", "?", "?", BYTES(1, 2, 3, 0xff)},
	{"?", "?", "?",
         BYTES(BREG(7), 8, 18, 18, 18, 18, 18, 18, 18, 18, 18, 18, 18, 18, 18, 18, 18, 18)},
};

START_TEST(one_expression)
{
	const struct expression *expression = &expressions[_i];
	struct frame_row row = {.end = 1};
	struct frame_text text = {.count = 0};
	char expected[256];

	row.cfa = cfi_expression_cfa(expression->bytes, expression->len);
	row.fp = cfi_expression_save(expression->bytes, expression->len);
	row.ra = cfi_expression_value(expression->bytes, expression->len);
	frame_text_row(&row, &text);
	snprintf(expected, sizeof(expected), "0-1 %s %s %s;", expression->cfa, expression->save,
	         expression->value);
	ck_assert_str_eq(text.text, expected);
}
END_TEST

START_TEST(any_bytes)
{
	struct cfi_common common = usual();
	struct frame_text text;
	uint8_t bytes[64];

	srandom((unsigned int)_i);
	for (int round = 0; round < 20000; round++) {
		struct cfi_code code = {bytes, (size_t)(random() % (long)sizeof(bytes)), 0};
		for (size_t at = 0; at < code.len; at++)
			bytes[at] = (uint8_t)(random() >> (random() % 16));
		text = (struct frame_text){.stop_after = 20};
		cfi_each_row(&common, &code, 0x100, 0x200, frame_text_row, &text);
		cfi_begin(&(struct cfi_common){.code_align = 1}, &code);
	}
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof(*(array))))

Suite *cfi_suite(void)
{
	Suite *suite = suite_create("cfi");
	TCase *tcase = tcase_create("cfi");

	tcase_add_loop_test(tcase, instructions, 0, COUNT(examples));
	tcase_add_loop_test(tcase, mistakes, 0, COUNT(broken));
	tcase_add_test(tcase, common_entries);
	tcase_add_loop_test(tcase, one_expression, 0, COUNT(expressions));
	tcase_add_loop_test(tcase, any_bytes, 0, 4);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return suite;
}
