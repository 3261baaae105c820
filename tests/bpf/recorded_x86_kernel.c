/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * x86-64 stacks in which the kernel takes part: signals, and return probes.
 */
#include "tests/bpf/recorded_x86.h"

#define SIGNAL_ROW(start, end)                                                 \
	{                                                                      \
		start, end, CFA_AT(X86_REG_SP, 160, 0), SAME, AT_CFA(-8), true \
	}

/* Where the kernel saves registers for the restorer: in the ucontext to which sp points. */
#define SAVED_FP(sp)  ((sp) + 40 + 10 * 8)
#define SAVED_SP(sp)  ((sp) + 40 + 15 * 8)
#define SAVED_PC(sp)  ((sp) + 40 + 16 * 8)
#define SAVED_R10(sp) ((sp) + 40 + 2 * 8)

static const struct recorded stacks[] = {
	{
		.name = "a signal handler on another stack, over code interrupted at its first "
			"byte",
		.rows = {ROW(0x1000, 0x1100, SP(8), SAME), ROW(0x2000, 0x2100, SP(8), AT_CFA(-80)),
                         ROW(0x2100, 0x2200, FP(16), AT_CFA(-16)), SIGNAL_ROW(0x27ff, 0x2810),
                         ROOT},
		.pc = EXE + 0x1010,
		.sp = STACK - 0x8000,
		.words = {{STACK - 0x8000, EXE + 0x2800},
                          {SAVED_FP(STACK - 0x7ff8), STACK + 64},
                          {SAVED_SP(STACK - 0x7ff8), STACK},
                          {SAVED_PC(STACK - 0x7ff8), EXE + 0x2100},
                          {STACK + 72, IN_ROOT}},
		.frames = {EXE + 0x1010, EXE + 0x27ff, EXE + 0x2100, IN_ROOT - 1},
		.outcome = COUNTER_walk_complete,
	},
	{
		.name = "what a signal interrupted is a leaf again",
		.rows = {ROW(0x1000, 0x1100, SP(8), SAME),
                         {0x2000, 0x2100, CFA_REG(R10, 0), SAME, AT_CFA(-8), false},
                         SIGNAL_ROW(0x27ff, 0x2810),
                         ROOT},
		.pc = EXE + 0x1010,
		.sp = STACK,
		.words = {{STACK, EXE + 0x2800},
                          {SAVED_SP(STACK + 8), STACK + 0x800},
                          {SAVED_PC(STACK + 8), EXE + 0x2010},
                          {SAVED_R10(STACK + 8), STACK + 0x900},
                          {STACK + 0x8f8, IN_ROOT}},
		.frames = {EXE + 0x1010, EXE + 0x27ff, EXE + 0x2010, IN_ROOT - 1},
		.outcome = COUNTER_walk_complete,
	},
	{
		.name = "a signal in a signal handler",
		.rows = {ROW(0x1000, 0x1100, SP(8), SAME), ROW(0x2000, 0x2100, SP(8), SAME),
                         SIGNAL_ROW(0x27ff, 0x2810), ROOT},
		.pc = EXE + 0x1010,
		.sp = STACK,
		.words = {{STACK, EXE + 0x2800},
                          {SAVED_SP(STACK + 8), STACK + 0x800},
                          {SAVED_PC(STACK + 8), EXE + 0x1020},
                          {STACK + 0x800, EXE + 0x2800},
                          {SAVED_SP(STACK + 0x808), STACK + 0x1000},
                          {SAVED_PC(STACK + 0x808), EXE + 0x2000},
                          {STACK + 0x1000, IN_ROOT}},
		.frames = {EXE + 0x1010, EXE + 0x27ff, EXE + 0x1020, EXE + 0x27ff, EXE + 0x2000,
                           IN_ROOT - 1},
		.outcome = COUNTER_walk_complete,
	},
	{
		.name = "a signal frame that is not there",
		.rows = {ROW(0x1000, 0x1100, SP(8), SAME), SIGNAL_ROW(0x27ff, 0x2810)},
		.pc = EXE + 0x1010,
		.sp = STACK + 0xff0,
		.words = {{STACK + 0xff0, EXE + 0x2800}},
		.frames = {EXE + 0x1010, EXE + 0x27ff},
		.outcome = COUNTER_cut_unreadable,
	},
	{
		.name = "return probes on callers: one, a tail call's two, one in between that was "
			"left",
		.rows = {ROW(0x1000, 0x1100, SP(16), SAME), ROW(0x2000, 0x2100, SP(32), SAME),
                         ROW(0x2100, 0x2200, SP(16), SAME), ROOT},
		.pc = EXE + 0x1010,
		.sp = STACK,
		.words = {{STACK + 8, TRAMPOLINE},
                          {STACK + 40, EXE + 0x2120},
                          {STACK + 56, TRAMPOLINE}},
		.returns = {{STACK - 8, EXE + 0x1020},
                            {STACK + 8, EXE + 0x2020},
                            {STACK + 24, EXE + 0x1020},
                            {STACK + 40, EXE + 0x1020},
                            {STACK + 56, IN_ROOT},
                            {STACK + 56, IN_ROOT}},
		.frames = {EXE + 0x1010, EXE + 0x201f, EXE + 0x211f, IN_ROOT - 1},
		.outcome = COUNTER_walk_complete,
	},
	{
		.name = "a return probe's trampoline at a place that no entry has",
		.rows = {ROW(0x1000, 0x1100, SP(16), SAME), ROOT},
		.pc = EXE + 0x1010,
		.sp = STACK,
		.words = {{STACK + 8, TRAMPOLINE}},
		.returns = {{STACK, IN_ROOT}, {STACK + 16, IN_ROOT}},
		.frames = {EXE + 0x1010},
		.outcome = COUNTER_cut_unmapped,
	},
	{
		.name = "a return probe on a function without rows, by frame pointer",
		.rows = {ROOT},
		.pc = BARE + 0x10,
		.sp = STACK,
		.fp = STACK + 32,
		.words = {{STACK + 32, STACK + 64}, {STACK + 40, TRAMPOLINE}},
		.returns = {{STACK + 40, IN_ROOT}},
		.frames = {BARE + 0x10, IN_ROOT - 1},
		.outcome = COUNTER_walk_complete,
	},
	{
		.name = "in a return probe's trampoline",
		.rows = {ROW(0x1000, 0x1100, SP(16), SAME), ROOT},
		.pc = TRAMPOLINE + 9,
		.sp = STACK,
		.words = {{STACK + 32, IN_ROOT}},
		.returns = {{STACK + 16, EXE + 0x1010}},
		.frames = {TRAMPOLINE + 9, EXE + 0x100f, IN_ROOT - 1},
		.outcome = COUNTER_walk_complete,
	},
};

START_TEST(finds_what_the_kernel_made)
{
	recorded_check(MACHINE_X86_64, &stacks[_i]);
}
END_TEST

TCase *recorded_x86_kernel_case(void)
{
	TCase *tests = tcase_create("made by the kernel");

	tcase_add_loop_test(tests, finds_what_the_kernel_made, 0,
	                    sizeof(stacks) / sizeof(stacks[0]));
	return tests;
}
