/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * x86-64 stacks, written by hand from what compilers and the C library generate.
 */
#include "tests/bpf/recorded_x86.h"
#include "tests/bpf/suites.h"

static const struct recorded stacks[] = {
	{
		.name = "sp-based frames",
		.rows = {ROW(0x1000, 0x1100, SP(24), SAME), ROW(0x2000, 0x2100, SP(8), SAME), ROOT},
		.pc = EXE + 0x1010,
		.sp = STACK,
		.words = {{STACK + 16, EXE + 0x2020}, {STACK + 24, IN_ROOT}},
		.frames = {EXE + 0x1010, EXE + 0x201f, IN_ROOT - 1},
		.outcome = COUNTER_walk_complete,
	},
	{
		.name = "fp-based frames",
		.rows = {ROW(0x1000, 0x1100, FP(16), AT_CFA(-16)), ROOT},
		.pc = EXE + 0x1010,
		.sp = STACK,
		.fp = STACK + 64,
		.words = {{STACK + 64, STACK + 128},
                          {STACK + 72, EXE + 0x1020},
                          {STACK + 128, 0},
                          {STACK + 136, IN_ROOT}},
		.frames = {EXE + 0x1010, EXE + 0x101f, IN_ROOT - 1},
		.outcome = COUNTER_walk_complete,
	},
	{
		.name = "rbp saved by a frame that is counted from rsp",
		.rows = {ROW(0x1000, 0x1100, SP(32), AT_CFA(-24)),
                         ROW(0x2000, 0x2100, FP(16), AT_CFA(-16)), ROOT},
		.pc = EXE + 0x1010,
		.sp = STACK,
		.fp = 0x123456789, /* any number */
		.words = {{STACK + 8, STACK + 80},
                          {STACK + 24, EXE + 0x2020},
                          {STACK + 88, IN_ROOT}},
		.frames = {EXE + 0x1010, EXE + 0x201f, IN_ROOT - 1},
		.outcome = COUNTER_walk_complete,
	},
	{
		.name = "a call that is its function's last instruction",
		.rows = {ROW(0x1000, 0x1100, SP(8), SAME), ROW(0x2000, 0x2100, SP(16), SAME),
                         ROW(0x2100, 0x2200, SP(800), SAME), ROOT},
		.pc = EXE + 0x1000,
		.sp = STACK,
		.words = {{STACK, EXE + 0x2100}, {STACK + 16, IN_ROOT}},
		.frames = {EXE + 0x1000, EXE + 0x20ff, IN_ROOT - 1},
		.outcome = COUNTER_walk_complete,
	},
	{
		.name = "rows that change within a block",
		.rows = {ROW(0x1000, 0x1001, SP(8), SAME), ROW(0x1001, 0x1004, SP(16), AT_CFA(-16)),
                         ROW(0x1004, 0x10f0, FP(16), AT_CFA(-16)), ROW(0x10f0, 0x10f1, SP(8), SAME),
                         ROOT},
		.pc = EXE + 0x1003,
		.sp = STACK,
		.fp = STACK + 4096,
		.words = {{STACK, STACK + 160},
                          {STACK + 8, EXE + 0x10f0},
                          {STACK + 160, 0},
                          {STACK + 168, IN_ROOT}},
		.frames = {EXE + 0x1003, EXE + 0x10ef, IN_ROOT - 1},
		.outcome = COUNTER_walk_complete,
	},
	{
		.name = "a row that lies over many blocks",
		.rows = {ROW(0x1000, 0x2f00, SP(16), SAME), ROOT},
		.pc = EXE + 0x2eff,
		.sp = STACK,
		.words = {{STACK + 8, EXE + 0x1801}, {STACK + 24, IN_ROOT}},
		.frames = {EXE + 0x2eff, EXE + 0x1800, IN_ROOT - 1},
		.outcome = COUNTER_walk_complete,
	},
	{
		.name = "PLT entry before its push",
		.rows = {{0x1000, 0x1100, {CFA_PLT, 7, 11, 0}, SAME, AT_CFA(-8), false}, ROOT},
		.pc = EXE + 0x1016,
		.sp = STACK,
		.words = {{STACK, IN_ROOT}, {STACK + 8, 1}},
		.frames = {EXE + 0x1016, IN_ROOT - 1},
		.outcome = COUNTER_walk_complete,
	},
	{
		.name = "PLT entry behind its push",
		.rows = {{0x1000, 0x1100, {CFA_PLT, 7, 11, 0}, SAME, AT_CFA(-8), false}, ROOT},
		.pc = EXE + 0x101b,
		.sp = STACK,
		.words = {{STACK, 1}, {STACK + 8, IN_ROOT}},
		.frames = {EXE + 0x101b, IN_ROOT - 1},
		.outcome = COUNTER_walk_complete,
	},
	{
		.name = "PLT entry with endbr64 before its push",
		.rows = {{0x1000, 0x1100, {CFA_PLT, 7, 10, 0}, SAME, AT_CFA(-8), false}, ROOT},
		.pc = EXE + 0x1029,
		.sp = STACK,
		.words = {{STACK, IN_ROOT}, {STACK + 8, 1}},
		.frames = {EXE + 0x1029, IN_ROOT - 1},
		.outcome = COUNTER_walk_complete,
	},
	{
		.name = "PLT entry with endbr64 behind its push",
		.rows = {{0x1000, 0x1100, {CFA_PLT, 7, 10, 0}, SAME, AT_CFA(-8), false}, ROOT},
		.pc = EXE + 0x102a,
		.sp = STACK,
		.words = {{STACK, 1}, {STACK + 8, IN_ROOT}},
		.frames = {EXE + 0x102a, IN_ROOT - 1},
		.outcome = COUNTER_walk_complete,
	},
	{
		.name = "stack realigned: CFA and rbp in memory at rbp",
		.rows = {{0x1000, 0x1100, CFA_AT(X86_REG_FP, -8, 0), AT_REG(X86_REG_FP, 0),
                          AT_CFA(-8), false},
                         ROW(0x2000, 0x2100, FP(16), AT_CFA(-16)),
                         ROOT},
		.pc = EXE + 0x1010,
		.sp = STACK,
		.fp = STACK + 64,
		.words = {{STACK + 56, STACK + 128},
                          {STACK + 64, STACK + 160},
                          {STACK + 120, EXE + 0x2020},
                          {STACK + 168, IN_ROOT}},
		.frames = {EXE + 0x1010, EXE + 0x201f, IN_ROOT - 1},
		.outcome = COUNTER_walk_complete,
	},
	{
		.name = "CFA read at rsp, and added to",
		.rows = {{0x1000, 0x1100, CFA_AT(X86_REG_SP, 24, 8), SAME, AT_CFA(-8), false},
                         ROOT},
		.pc = EXE + 0x1010,
		.sp = STACK,
		.words = {{STACK + 24, STACK + 96}, {STACK + 96, IN_ROOT}},
		.frames = {EXE + 0x1010, IN_ROOT - 1},
		.outcome = COUNTER_walk_complete,
	},
	{
		.name = "return address in rdi, as in vfork",
		.rows = {{0x1000, 0x1100, SP(0), SAME, IN_REG(RDI), false},
                         ROW(0x2000, 0x2100, SP(8), SAME),
                         ROOT},
		.pc = EXE + 0x1010,
		.sp = STACK,
		.registers = {{RDI, EXE + 0x2020}},
		.words = {{STACK, IN_ROOT}},
		.frames = {EXE + 0x1010, EXE + 0x201f, IN_ROOT - 1},
		.outcome = COUNTER_walk_complete,
	},
	{
		.name = "CFA counted from rax in a leaf",
		.rows = {{0x1000, 0x1100, CFA_REG(RAX, 8), AT_REG(RAX, -8), AT_CFA(-8), false},
                         ROW(0x2000, 0x2100, FP(16), AT_CFA(-16)),
                         ROOT},
		.pc = EXE + 0x1010,
		.sp = STACK,
		.registers = {{RAX, STACK + 256}},
		.words = {{STACK + 256, EXE + 0x2020},
                          {STACK + 248, STACK + 512},
                          {STACK + 520, IN_ROOT}},
		.frames = {EXE + 0x1010, EXE + 0x201f, IN_ROOT - 1},
		.outcome = COUNTER_walk_complete,
	},
	{
		.name = "CFA counted from r10 in a caller",
		.rows = {ROW(0x1000, 0x1100, SP(8), SAME),
                         {0x2000, 0x2100, CFA_REG(R10, 0), SAME, AT_CFA(-8), false},
                         ROOT},
		.pc = EXE + 0x1010,
		.sp = STACK,
		.registers = {{R10, STACK + 64}},
		.words = {{STACK, EXE + 0x2020}, {STACK + 56, IN_ROOT}},
		.frames = {EXE + 0x1010, EXE + 0x201f},
		.outcome = COUNTER_cut_register,
	},
	{
		.name = "a frame over a page's end",
		.rows = {ROW(0x1000, 0x1100, FP(16), AT_CFA(-16)), ROOT},
		.pc = EXE + 0x1010,
		.sp = STACK + 0xfe0,
		.fp = STACK + 0xff8,
		.words = {{STACK + 0xff8, STACK + 0x1ff8},
                          {STACK + 0x1000, EXE + 0x1020},
                          {STACK + 0x1ff8, 0},
                          {STACK + 0x2000, IN_ROOT}},
		.frames = {EXE + 0x1010, EXE + 0x101f, IN_ROOT - 1},
		.outcome = COUNTER_walk_complete,
	},
};

START_TEST(finds_what_was_recorded)
{
	recorded_check(MACHINE_X86_64, &stacks[_i]);
}
END_TEST

Suite *recorded_x86_suite(void)
{
	Suite *suite = suite_create("x86-64");
	TCase *tests = tcase_create("recorded");

	tcase_add_loop_test(tests, finds_what_was_recorded, 0, sizeof(stacks) / sizeof(stacks[0]));
	suite_add_tcase(suite, tests);
	suite_add_tcase(suite, recorded_x86_kernel_case());
	suite_add_tcase(suite, recorded_x86_without_case());
	return suite;
}
