/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * arm64 stacks, written by hand: return addresses in x30, frame records, signed addresses.
 */
#include "tests/bpf/recorded.h"
#include "tests/bpf/suites.h"

#define SP(n) CFA_REG(ARM64_REG_SP, n)
#define FP(n) CFA_REG(ARM64_REG_FP, n)
#define ROW(start, end, cfa, fp, ra)           \
	{                                      \
		start, end, cfa, fp, ra, false \
	}
#define LEAF(start, end) ROW(start, end, SP(0), SAME, SAME)
#define ROOT             ROW(0x3000, 0x3100, SP(0), SAME, OUTERMOST)
#define IN_ROOT          (EXE + 0x3020)
#define SIGNAL_ROW(start, end)                      \
	{                                           \
		start, end, SP(0), SAME, SAME, true \
	}
#define SIGNED 0x0034000000000000ULL

/* Where the kernel saves registers for the restorer, by DWARF number. */
#define SAVED(sp, number) ((sp) + 312 + 8 * (number))

static const struct recorded stacks[] = {
	{
		.name = "a leaf's return address in x30",
		.rows = {LEAF(0x1000, 0x1100),
                         ROW(0x2000, 0x2100, SP(32), AT_CFA(-32), AT_CFA(-24)), ROOT},
		.pc = EXE + 0x1010,
		.sp = STACK,
		.registers = {{ARM64_REG_LR, EXE + 0x2020}},
		.words = {{STACK, 0}, {STACK + 8, IN_ROOT}},
		.frames = {EXE + 0x1010, EXE + 0x201f, IN_ROOT - 1},
		.outcome = COUNTER_walk_complete,
	},
	{
		.name = "a leaf with a frame and its return address in x30",
		.rows = {ROW(0x1000, 0x1100, SP(48), SAME, SAME), ROOT},
		.pc = EXE + 0x1010,
		.sp = STACK,
		.registers = {{ARM64_REG_LR, IN_ROOT}},
		.frames = {EXE + 0x1010, IN_ROOT - 1},
		.outcome = COUNTER_walk_complete,
	},
	{
		.name = "x30 in a caller",
		.rows = {LEAF(0x1000, 0x1100), ROW(0x2000, 0x2100, SP(32), SAME, SAME), ROOT},
		.pc = EXE + 0x1010,
		.sp = STACK,
		.registers = {{ARM64_REG_LR, EXE + 0x2020}},
		.frames = {EXE + 0x1010, EXE + 0x201f},
		.outcome = COUNTER_cut_register,
	},
	{
		.name = "frame records, counted from x29",
		.rows = {ROW(0x1000, 0x1100, FP(32), AT_CFA(-32), AT_CFA(-24)),
                         ROW(0x2000, 0x2100, FP(64), AT_CFA(-64), AT_CFA(-56)), ROOT},
		.pc = EXE + 0x1010,
		.sp = STACK,
		.fp = STACK + 16,
		.words = {{STACK + 16, STACK + 48},
                          {STACK + 24, EXE + 0x2020},
                          {STACK + 48, 0},
                          {STACK + 56, IN_ROOT}},
		.frames = {EXE + 0x1010, EXE + 0x201f, IN_ROOT - 1},
		.outcome = COUNTER_walk_complete,
	},
	{
		.name = "only x30 saved",
		.rows = {ROW(0x1000, 0x1100, SP(16), SAME, AT_CFA(-16)),
                         ROW(0x2000, 0x2100, FP(16), AT_CFA(-16), AT_CFA(-8)), ROOT},
		.pc = EXE + 0x1010,
		.sp = STACK,
		.fp = STACK + 64,
		.words = {{STACK, EXE + 0x2020}, {STACK + 64, 0}, {STACK + 72, IN_ROOT}},
		.frames = {EXE + 0x1010, EXE + 0x201f, IN_ROOT - 1},
		.outcome = COUNTER_walk_complete,
	},
	{
		.name = "x29 and x30 saved apart",
		.rows = {ROW(0x1000, 0x1100, SP(64), AT_CFA(-64), AT_CFA(-8)),
                         ROW(0x2000, 0x2100, FP(16), AT_CFA(-16), AT_CFA(-8)), ROOT},
		.pc = EXE + 0x1010,
		.sp = STACK,
		.fp = 1,
		.words = {{STACK, STACK + 128}, {STACK + 56, EXE + 0x2020}, {STACK + 136, IN_ROOT}},
		.frames = {EXE + 0x1010, EXE + 0x201f, IN_ROOT - 1},
		.outcome = COUNTER_walk_complete,
	},
	{
		.name = "signed return addresses",
		.rows = {LEAF(0x1000, 0x1100),
                         ROW(0x2000, 0x2100, SP(32), AT_CFA(-32), AT_CFA(-24)), ROOT},
		.pc = EXE + 0x1010,
		.sp = STACK,
		.registers = {{ARM64_REG_LR, SIGNED | (EXE + 0x2020)}},
		.words = {{STACK, 0}, {STACK + 8, SIGNED | IN_ROOT}},
		.frames = {EXE + 0x1010, EXE + 0x201f, IN_ROOT - 1},
		.outcome = COUNTER_walk_complete,
	},
	{
		.name = "a signed return address that only a rule can find",
		.rows = {ROW(0x1000, 0x1100, SP(64), AT_CFA(-64), AT_CFA(-8)), ROOT},
		.pc = EXE + 0x1010,
		.sp = STACK,
		.words = {{STACK + 56, SIGNED | IN_ROOT}},
		.frames = {EXE + 0x1010, IN_ROOT - 1},
		.outcome = COUNTER_walk_complete,
	},
	{
		.name = "a signal handler over a leaf",
		.rows = {ROW(0x1000, 0x1100, SP(32), AT_CFA(-32), AT_CFA(-24)),
                         LEAF(0x2000, 0x2100), SIGNAL_ROW(0x27fc, 0x2810), ROOT},
		.pc = EXE + 0x1010,
		.sp = STACK,
		.words = {{STACK + 8, EXE + 0x2800},
                          {SAVED(STACK + 32, ARM64_REG_LR), IN_ROOT},
                          {SAVED(STACK + 32, ARM64_REG_SP), STACK + 0x2000},
                          {SAVED(STACK + 32, ARM64_REG_PC), EXE + 0x2000}},
		.frames = {EXE + 0x1010, EXE + 0x27ff, EXE + 0x2000, IN_ROOT - 1},
		.outcome = COUNTER_walk_complete,
	},
	{
		.name = "a frame record that leads back to itself",
		.rows = {ROW(0x1000, 0x1100, FP(16), AT_CFA(-16), AT_CFA(-8))},
		.pc = EXE + 0x1010,
		.sp = STACK,
		.fp = STACK + 64,
		.words = {{STACK + 64, STACK + 64}, {STACK + 72, EXE + 0x1020}},
		.frames = {EXE + 0x1010, EXE + 0x101f},
		.outcome = COUNTER_cut_bad_frame,
	},
	{
		.name = "code without rows, by frame record",
		.rows = {ROOT},
		.pc = BARE + 0x10,
		.sp = STACK,
		.fp = STACK + 32,
		.words = {{STACK + 32, STACK + 64},
                          {STACK + 40, BARE + 0x20},
                          {STACK + 64, STACK + 96},
                          {STACK + 72, IN_ROOT}},
		.frames = {BARE + 0x10, BARE + 0x1f, IN_ROOT - 1},
		.outcome = COUNTER_walk_complete,
	},
	{
		.name = "return probes: in x30, on the stack, signed, and a tail call's",
		.rows = {LEAF(0x1000, 0x1100),
                         ROW(0x2000, 0x2100, SP(32), AT_CFA(-32), AT_CFA(-24)),
                         ROW(0x2100, 0x2200, SP(16), AT_CFA(-16), AT_CFA(-8)), ROOT},
		.pc = EXE + 0x1010,
		.sp = STACK,
		.registers = {{ARM64_REG_LR, TRAMPOLINE}},
		.words = {{STACK + 8, SIGNED | TRAMPOLINE}, {STACK + 40, TRAMPOLINE}},
		.returns = {{STACK - 16, EXE + 0x1020},
                            {STACK, EXE + 0x2020},
                            {STACK + 32, EXE + 0x2120},
                            {STACK + 32, EXE + 0x2120},
                            {STACK + 48, IN_ROOT}},
		.frames = {EXE + 0x1010, EXE + 0x201f, EXE + 0x211f, IN_ROOT - 1},
		.outcome = COUNTER_walk_complete,
	},
	{
		.name = "a return probe on a function without rows, its frame record at its bottom",
		.rows = {ROOT},
		.pc = BARE + 0x10,
		.sp = STACK,
		.fp = STACK + 32,
		.words = {{STACK + 32, STACK + 64}, {STACK + 40, TRAMPOLINE}},
		.returns = {{STACK + 16, EXE + 0x1020}, {STACK + 96, IN_ROOT}},
		.frames = {BARE + 0x10, IN_ROOT - 1},
		.outcome = COUNTER_walk_complete,
	},
	{
		.name = "a return probe's trampoline where no entry is left",
		.rows = {LEAF(0x1000, 0x1100), ROOT},
		.pc = EXE + 0x1010,
		.sp = STACK,
		.registers = {{ARM64_REG_LR, TRAMPOLINE}},
		.returns = {{STACK - 16, IN_ROOT}},
		.frames = {EXE + 0x1010},
		.outcome = COUNTER_cut_unmapped,
	},
	{
		.name = "code without rows, by frame record with a signed address",
		.rows = {ROOT},
		.pc = BARE + 0x10,
		.sp = STACK,
		.fp = STACK + 32,
		.words = {{STACK + 32, STACK + 64}, {STACK + 40, SIGNED | IN_ROOT}},
		.frames = {BARE + 0x10, IN_ROOT - 1},
		.outcome = COUNTER_walk_complete,
	},
};

START_TEST(finds_what_was_recorded)
{
	recorded_check(MACHINE_ARM64, &stacks[_i]);
}
END_TEST

Suite *recorded_arm64_suite(void)
{
	Suite *suite = suite_create("arm64");
	TCase *tests = tcase_create("recorded");

	tcase_add_loop_test(tests, finds_what_was_recorded, 0, sizeof(stacks) / sizeof(stacks[0]));
	suite_add_tcase(suite, tests);
	return suite;
}
