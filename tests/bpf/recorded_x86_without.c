/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * x86-64 stacks in which rows do not give the caller, or give a wrong one.
 */
#include "tests/bpf/recorded_x86.h"

static const struct recorded stacks[] = {
	{
		.name = "memory that is not there in the middle",
		.rows = {ROW(0x1000, 0x1100, SP(16), SAME), ROW(0x2000, 0x2100, SP(0x4008), SAME),
                         ROOT},
		.pc = EXE + 0x1010,
		.sp = STACK,
		.words = {{STACK + 8, EXE + 0x2020}, {STACK + 0x9000, IN_ROOT}},
		.frames = {EXE + 0x1010, EXE + 0x201f},
		.outcome = COUNTER_cut_unreadable,
	},
	{
		.name = "a frame that leads back to itself",
		.rows = {ROW(0x1000, 0x1100, FP(16), AT_CFA(-16))},
		.pc = EXE + 0x1010,
		.sp = STACK,
		.fp = STACK + 64,
		.words = {{STACK + 64, STACK + 64}, {STACK + 72, EXE + 0x1020}},
		.frames = {EXE + 0x1010, EXE + 0x101f},
		.outcome = COUNTER_cut_bad_frame,
	},
	{
		.name = "a frame that leads down the stack",
		.rows = {ROW(0x1000, 0x1100, FP(16), AT_CFA(-16))},
		.pc = EXE + 0x1010,
		.sp = STACK,
		.fp = STACK - 64,
		.words = {{STACK - 64, STACK}, {STACK - 56, EXE + 0x1020}},
		.frames = {EXE + 0x1010},
		.outcome = COUNTER_cut_bad_frame,
	},
	{
		.name = "a rule whose CFA is where the stack pointer was",
		.rows = {ROW(0x1000, 0x1100, SP(8), SAME),
                         {0x2000, 0x2100, SP(0), SAME, AT_CFA(-8), false, false}},
		.pc = EXE + 0x1010,
		.sp = STACK,
		.words = {{STACK, EXE + 0x2020}},
		.frames = {EXE + 0x1010, EXE + 0x201f},
		.outcome = COUNTER_cut_bad_frame,
	},
	{
		.name = "a rule that leads back to where the stack pointer was",
		.rows = {ROW(0x1000, 0x1100, SP(8), SAME),
                         {0x2000, 0x2100, CFA_AT(X86_REG_SP, 0, 0), SAME, AT_CFA(-8), false,
                          false}},
		.pc = EXE + 0x1010,
		.sp = STACK,
		.words = {{STACK, EXE + 0x2020}, {STACK + 8, STACK + 8}},
		.frames = {EXE + 0x1010, EXE + 0x201f},
		.outcome = COUNTER_cut_bad_frame,
	},
	{
		.name = "a stack pointer that is not aligned",
		.rows = {ROW(0x1000, 0x1100, SP(8), SAME), ROOT},
		.pc = EXE + 0x1010,
		.sp = STACK + 4,
		.words = {{STACK, IN_ROOT}, {STACK + 8, IN_ROOT}},
		.frames = {EXE + 0x1010},
		.outcome = COUNTER_cut_unreadable,
	},
	{
		.name = "a return address of 0",
		.rows = {ROW(0x1000, 0x1100, SP(8), SAME)},
		.pc = EXE + 0x1010,
		.sp = STACK,
		.words = {{STACK, 0}},
		.frames = {EXE + 0x1010},
		.outcome = COUNTER_walk_complete,
	},
	{
		.name = "a return address that is none",
		.rows = {ROW(0x1000, 0x1100, SP(8), SAME)},
		.pc = EXE + 0x1010,
		.sp = STACK,
		.words = {{STACK, 0xffffffff81000000}},
		.frames = {EXE + 0x1010},
		.outcome = COUNTER_cut_bad_frame,
	},
	{
		.name = "a return address that is not in executable memory",
		.rows = {ROW(0x1000, 0x1100, SP(8), SAME)},
		.pc = EXE + 0x1010,
		.sp = STACK,
		.fp = 1,
		.words = {{STACK, STACK + 0x100}},
		.frames = {EXE + 0x1010},
		.outcome = COUNTER_cut_unmapped,
	},
	{
		.name = "callers by chained frame pointers, to another stack and to the end",
		.rows = {{0x1000, 0x1100, SP(16), AT_CFA(-16), AT_CFA(-8), false, true},
                         {0x2000, 0x2100, SP(8), SAME, AT_CFA(-8), false, true}},
		.pc = EXE + 0x1010,
		.sp = STACK + 0x800,
		.fp = 1,
		/* The leaf's frame, then a pair far below it, then the outermost frame. */
		.words = {{STACK + 0x800, STACK + 0x100},
                          {STACK + 0x808, EXE + 0x2020},
                          {STACK + 0x100, 0},
                          {STACK + 0x108, EXE + 0x2040}},
		.frames = {EXE + 0x1010, EXE + 0x201f, EXE + 0x203f},
		.outcome = COUNTER_walk_complete,
	},
	{
		.name = "something that no rule can say",
		.rows = {{0x1000, 0x1100, {CFA_OTHER, 0, 0, 0}, SAME, AT_CFA(-8), false, false}},
		.pc = EXE + 0x1010,
		.sp = STACK,
		.fp = STACK + 64,
		.words = {{STACK + 64, 0}, {STACK + 72, IN_ROOT}},
		.frames = {EXE + 0x1010},
		.outcome = COUNTER_cut_unsupported,
	},
	{
		.name = "code without rows, by frame pointer",
		.rows = {ROW(0x1000, 0x1100, SP(16), SAME), ROOT},
		.pc = EXE + 0x1010,
		.sp = STACK,
		.fp = STACK + 32,
		.words = {{STACK + 8, EXE + 0x2020},
                          {STACK + 32, STACK + 64},
                          {STACK + 40, BARE + 0x20},
                          {STACK + 64, STACK + 128},
                          {STACK + 72, IN_ROOT}},
		.frames = {EXE + 0x1010, EXE + 0x201f, BARE + 0x1f, IN_ROOT - 1},
		.outcome = COUNTER_walk_complete,
	},
	{
		.name = "code without rows, and a frame pointer that is none",
		.rows = {ROW(0x1000, 0x1100, SP(16), SAME), ROOT},
		.pc = EXE + 0x1010,
		.sp = STACK,
		.fp = STACK + 32,
		.words = {{STACK + 8, EXE + 0x2020},
                          {STACK + 32, STACK + 64},
                          {STACK + 40, STACK + 0x20}},
		.frames = {EXE + 0x1010, EXE + 0x201f},
		.outcome = COUNTER_cut_no_rows,
	},
	{
		.name = "a leaf without rows or mapping table",
		.rows = {ROOT},
		.pc = BARE + 0x10,
		.sp = STACK,
		.fp = STACK + 32,
		.words = {{STACK + 32, 0}, {STACK + 40, IN_ROOT}},
		.frames = {BARE + 0x10, IN_ROOT - 1},
		.outcome = COUNTER_walk_complete,
	},
	{
		.name = "a leaf nowhere",
		.rows = {ROOT},
		.pc = 0x10,
		.sp = STACK,
		.fp = 0x20,
		.frames = {0x10},
		.outcome = COUNTER_cut_unmapped,
	},
};

START_TEST(says_how_it_ended)
{
	recorded_check(MACHINE_X86_64, &stacks[_i]);
}
END_TEST

TCase *recorded_x86_without_case(void)
{
	TCase *tests = tcase_create("without rows");

	tcase_add_loop_test(tests, says_how_it_ended, 0, sizeof(stacks) / sizeof(stacks[0]));
	return tests;
}
