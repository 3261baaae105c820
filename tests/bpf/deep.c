/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Recursion up to the depth that is walked, and deeper.
 */
#include "tests/bpf/recorded.h"
#include "tests/bpf/suites.h"

#define IN_ROOT (EXE + 0x3020)

/* Walks a function that calls itself until the stack is `depth` frames deep, including the
 * outermost frame. */
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
		{0x3000, 0x3100, CFA_REG(X86_REG_SP, 8), SAME, OUTERMOST, false, false},
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
	/* 8 KiB of stack are two or three pages. Each page is read once. */
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

Suite *deep_suite(void)
{
	Suite *suite = suite_create("deep");
	TCase *tests = tcase_create("recursion");

	tcase_add_test(tests, walks_512_frames_whole);
	tcase_add_loop_test(tests, cuts_deeper_stacks, 0, sizeof(deep) / sizeof(deep[0]));
	suite_add_tcase(suite, tests);
	return suite;
}
