/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * x86-64 stacks, written down by hand from what compilers, the C library and the kernel make.
 */
#include "tests/bpf/recorded.h"
#include "tests/bpf/suites.h"

#define SP(n) CFA_REG(X86_REG_SP, n)
#define FP(n) CFA_REG(X86_REG_FP, n)
#define ROW(start, end, cfa, fp)                       \
	{                                              \
		start, end, cfa, fp, AT_CFA(-8), false \
	}
#define ROOT                                                         \
	{                                                            \
		0x3000, 0x3100, SP(8), SAME, OUTERMOST, false, false \
	}
#define IN_ROOT (EXE + 0x3020)
#define SIGNAL_ROW(start, end)                                                 \
	{                                                                      \
		start, end, CFA_AT(X86_REG_SP, 160, 0), SAME, AT_CFA(-8), true \
	}

/* Where the kernel saves registers for the restorer: in the ucontext that sp is at. */
#define SAVED_FP(sp)  ((sp) + 40 + 10 * 8)
#define SAVED_SP(sp)  ((sp) + 40 + 15 * 8)
#define SAVED_PC(sp)  ((sp) + 40 + 16 * 8)
#define SAVED_R10(sp) ((sp) + 40 + 2 * 8)

enum { RAX = 0, RDI = 5, R10 = 10 };

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
		.name = "a signal frame that is not there",
		.rows = {ROW(0x1000, 0x1100, SP(8), SAME), SIGNAL_ROW(0x27ff, 0x2810)},
		.pc = EXE + 0x1010,
		.sp = STACK + 0xff0,
		.words = {{STACK + 0xff0, EXE + 0x2800}},
		.frames = {EXE + 0x1010, EXE + 0x27ff},
		.outcome = COUNTER_cut_unreadable,
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
		/* The leaf's own frame, then a pair far below it, then the outermost one. */
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

START_TEST(finds_what_was_recorded)
{
	recorded_check(MACHINE_X86_64, &stacks[_i]);
}
END_TEST

/* Calls itself until the stack is `depth` frames deep, the outermost one included. */
static void walk_recursion(u64 depth, u64 frame_bytes, struct walker_result *ret_result)
{
	const struct frame_row rows[] = {
		{0x1000,
	         0x1100,
	         {CFA_REGISTER, X86_REG_SP, (int64_t)frame_bytes, 0},
	         SAME,
	         AT_CFA(-8),
	         false,
	         false},
		ROOT,
		{0},
	};
	_cleanup_(world_freep) struct world *world = recorded_world(MACHINE_X86_64, rows);
	_cleanup_(memory_freep) struct memory *memory = memory_new();
	struct walker_input input;

	for (u64 i = 1; i < depth; i++)
		memory_put(memory, STACK + i * frame_bytes - 8,
		           i + 1 < depth ? EXE + 0x1020 : IN_ROOT);
	input = recorded_input(MACHINE_X86_64, world, memory, EXE + 0x1010, STACK, 0);
	recorded_walk(MACHINE_X86_64, &input, ret_result);
}

START_TEST(walks_512_frames_whole)
{
	struct walker_result result;

	walk_recursion(MAX_USER_FRAMES, 16, &result);
	ck_assert_str_eq(result.ended, "walk_complete");
	ck_assert_uint_eq(result.len, MAX_USER_FRAMES);
	ck_assert_uint_eq(result.frames[MAX_USER_FRAMES - 1], IN_ROOT - 1);
	/* 8 KiB of stack are two or three pages: memory is read once. */
	ck_assert_uint_le(result.reads, 3);
}
END_TEST

static const u64 deep[] = {MAX_USER_FRAMES + 1, MAX_USER_FRAMES + 2, 5000};

START_TEST(cuts_deeper_stacks)
{
	struct walker_result result;

	walk_recursion(deep[_i], 48, &result);
	ck_assert_str_eq(result.ended, "cut_truncated");
	ck_assert_uint_eq(result.len, MAX_USER_FRAMES);
	ck_assert_uint_eq(result.frames[MAX_USER_FRAMES - 1], EXE + 0x101f);
}
END_TEST

Suite *recorded_x86_suite(void)
{
	Suite *suite = suite_create("x86-64");
	TCase *tests = tcase_create("recorded");

	tcase_add_loop_test(tests, finds_what_was_recorded, 0, sizeof(stacks) / sizeof(stacks[0]));
	tcase_add_test(tests, walks_512_frames_whole);
	tcase_add_loop_test(tests, cuts_deeper_stacks, 0, sizeof(deep) / sizeof(deep[0]));
	suite_add_tcase(suite, tests);
	return suite;
}
