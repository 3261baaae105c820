/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Python frames are placed correctly among the native ones, in each way in which versions of
 * CPython run them.
 */
#include "tests/bpf/python_world.h"
#include "tests/bpf/suites.h"

#include <string.h>

static const struct {
	const char *name;
	struct python_plan plan;
	const char *text;
} stacks[] = {
	{"3.8: a loop for each frame",
         {PYTHON_ENTRY_LOOP, false, "ceceecr", {"a", "b", "c"}},
         "c a+2 L c b+4 L c+6 L c r"},
	{"3.8: the leaf is a loop", {PYTHON_ENTRY_LOOP, false, "eer", {"a", "b"}}, "a+2 L b+4 L r"},
	{"3.8: the leaf's loop has no frame yet",
         {PYTHON_ENTRY_LOOP, false, "eeecr", {"a", "b"}},
         "L a+2 L b+4 L c r"},
	{"3.10: a cframe for each frame",
         {PYTHON_ENTRY_EACH, false, "ceceecr", {"a", "b", "c"}},
         "c a+2 L c b+4 L c+6 L c r"},
	{"3.10: the cframe is linked, the frame is not yet",
         {PYTHON_ENTRY_EACH, false, "eeecr", {"a", "b"}},
         "L a+2 L b+4 L c r"},
	{"3.11: runs, each with a cframe",
         {PYTHON_ENTRY_RUN, false, "ceccer", {"ab", "cde"}},
         "c a+2 b+4 L c c c+6 d+8 e+10 L r"},
	{"3.12: shims, and a cframe that leads to the first frame",
         {PYTHON_ENTRY_SHIM, true, "ceccer", {"ab", "cde"}},
         "c a+2 b+4 L c c c+6 d+8 e+10 L r"},
	{"3.13: shims",
         {PYTHON_ENTRY_SHIM, false, "eceer", {"a", "b", "cd"}},
         "a+2 L c b+4 L c+6 d+8 L r"},
	{"3.13: a loop that runs nothing yet",
         {PYTHON_ENTRY_SHIM, false, "ecer", {"", "a"}},
         "L c a+2 L r"},
	{"a native stack that has no loop for the outer run",
         {PYTHON_ENTRY_SHIM, false, "cecer", {"a", "b"}},
         "c a+2 L c b+4 L r"},
};

START_TEST(puts_frames_where_they_belong)
{
	_cleanup_(python_world_freep) struct python_world *world =
		python_world_new(&stacks[_i].plan);
	const char *text = python_walk_text(world);

	ck_assert_msg(strcmp(text, stacks[_i].text) == 0, "%s: \"%s\", not \"%s\"", stacks[_i].name,
	              text, stacks[_i].text);
	ck_assert_str_eq(world->result.ended, "walk_complete");
	ck_assert_uint_eq(world->result.gil, GIL_HELD);
	ck_assert_uint_eq(world->result.counters[COUNTER_python_unmatched], 0);
	ck_assert_uint_eq(world->result.counters[COUNTER_python_broken], 0);
}
END_TEST

static const struct python_plan two_runs = {PYTHON_ENTRY_SHIM, false, "cecer", {"a", "bc"}};

START_TEST(keeps_frames_below_a_cut)
{
	_cleanup_(python_world_freep) struct python_world *world = python_world_new(&two_runs);

	/* There is no code at the return address of the second c. */
	python_put(world, world->entries[1] - 64 - 8, 8);
	ck_assert_str_eq(python_walk_text(world), "c a+2 L c b+4 c+6");
	ck_assert_str_eq(world->result.ended, "cut_bad_frame");
	ck_assert_uint_eq(world->result.counters[COUNTER_python_unmatched], 2);
}
END_TEST

START_TEST(goes_on_where_a_cframe_is_not_filled)
{
	static const struct python_plan plans[] = {
		{PYTHON_ENTRY_SHIM, true, "eceer", {"", "a", "b"}},
		{PYTHON_ENTRY_RUN, false, "eceer", {"", "a", "b"}},
	};
	_cleanup_(python_world_freep) struct python_world *world = python_world_new(&plans[_i]);
	u64 offset = plans[_i].cframes ? 64 : 0;

	/* In a loop that has just begun, the cframe may still hold another loop's frame, or
	 * anything. */
	python_put(world, world->entries[0] + offset + AT_CFRAME_CURRENT, 0xdeadbeef0008ULL);
	python_put(world, world->entries[1] + offset + AT_CFRAME_CURRENT, PY_FRAME(0));
	ck_assert_str_eq(python_walk_text(world), "e c a+2 L b+4 L r");
	ck_assert_uint_eq(world->result.counters[COUNTER_python_broken], 0);
}
END_TEST

/* In 3.10 the cframe of a frame that is about to return is already unlinked. */
START_TEST(takes_a_returning_frame_for_the_leaf)
{
	static const struct python_plan plan = {PYTHON_ENTRY_EACH, false, "eecr", {"a", "b"}};
	_cleanup_(python_world_freep) struct python_world *world = python_world_new(&plan);

	python_put(world, PY_THREAD + AT_THREAD_FRAME, world->entries[1]);
	ck_assert_str_eq(python_walk_text(world), "a+2 L b+4 L c r");
	ck_assert_uint_eq(world->result.counters[COUNTER_python_unmatched], 0);
}
END_TEST

/* 3.8: `frames` Python frames, each run by a loop of its own, with another native frame between
 * loops. */
static struct python_world *loops(u32 frames)
{
	char native[2 * PY_MAX_LOOPS + 2] = "";
	const struct python_plan plan = {PYTHON_ENTRY_LOOP, false, native, {"a"}};
	struct python_world *world;

	for (u32 i = 0; i < frames; i++)
		memcpy(native + 2 * i, "ce", 2);
	native[2 * frames] = 'r';
	world = python_world_new(&plan);
	for (u32 i = 0; i < frames; i++) {
		python_put(world, PY_FRAME(i) + AT_FRAME_PREVIOUS,
		           i + 1 < frames ? PY_FRAME(i + 1) : 0);
		python_put(world, PY_FRAME(i) + AT_FRAME_CODE, PY_CODE('a'));
		python_put(world, PY_FRAME(i) + AT_FRAME_INSTRUCTION, i);
	}
	return world;
}

START_TEST(leaves_out_native_frames_before_python_ones)
{
	static const struct {
		u32 frames;
		u64 left_out;
		const char *ended;
	} depths[] = {{200, 0, "walk_complete"},
	              {239, 0, "walk_complete"},
	              {255, 60, "walk_complete"},
	              {300, 153, "cut_truncated"},
	              {480, 511, "cut_truncated"}};
	_cleanup_(python_world_freep) struct python_world *world = loops(depths[_i].frames);
	const u64 *frames = world->result.frames;
	u32 found = 0;

	python_walk_text(world);
	ck_assert_str_eq(world->result.ended, depths[_i].ended);
	ck_assert_uint_eq(world->result.counters[COUNTER_python_natives_left_out],
	                  depths[_i].left_out);
	for (u32 i = 0; i < world->result.len; i++)
		if ((frames[i] & WORD_KIND) == WORD_OFFSET)
			ck_assert_uint_eq(frames[i] & WORD_VALUE, 2 * found++);
	ck_assert_uint_eq(found, depths[_i].frames);
	/* The leaf is kept, and so is the root if the walk reached it. */
	ck_assert_uint_eq(frames[0], world->pc);
	if (depths[_i].frames < 256)
		ck_assert_uint_eq((frames[world->result.len - 1] - EXE) >> 12, 3);
}
END_TEST

/* A run of `frames` Python frames on one loop, after a native leaf. */
static struct python_world *recursion(u64 frames)
{
	static const struct python_plan plan = {PYTHON_ENTRY_SHIM, false, "cecr", {"a"}};
	struct python_world *world = python_world_new(&plan);

	for (u64 i = 0; i < frames; i++) {
		u64 frame = PY_FRAME(i);

		python_put(world, frame + AT_FRAME_PREVIOUS,
		           i + 1 < frames ? PY_FRAME(i + 1) : world->entries[0]);
		python_put(world, frame + AT_FRAME_CODE, PY_CODE('a'));
		python_put(world, frame + AT_FRAME_INSTRUCTION,
		           PY_CODE('a') + AT_CODE_BYTECODE + 2 * i);
		python_put(world, frame + AT_FRAME_OWNER, 0);
	}
	return world;
}

START_TEST(cuts_deep_recursion_at_its_root)
{
	static const struct {
		u64 frames;
		u32 words;
		const char *ended;
	} depths[] = {{509, 1 + 2 * 509 + 3, "walk_complete"},
	              {511, 1 + 2 * 511, "cut_truncated"},
	              {1000, 1021, "cut_truncated"},
	              {4000, 1021, "cut_truncated"}};
	_cleanup_(python_world_freep) struct python_world *world = recursion(depths[_i].frames);
	const u64 *frames = world->result.frames;

	python_walk_text(world);
	ck_assert_str_eq(world->result.ended, depths[_i].ended);
	ck_assert_uint_ge(world->result.len, depths[_i].words);
	ck_assert_uint_lt(world->result.len, WALKER_MAX_WORDS);
	/* The leaf comes first even if outer frames are missing. */
	ck_assert_uint_eq(frames[0], world->pc);
	ck_assert_uint_eq(frames[1] & WORD_KIND, WORD_PYTHON);
	for (u64 i = 0; i < 500; i++)
		ck_assert_uint_eq(frames[2 + 2 * i], WORD_OFFSET | 2 * i);
}
END_TEST

Suite *python_suite(void)
{
	Suite *suite = suite_create("python");
	TCase *tests = tcase_create("stacks");

	tcase_add_loop_test(tests, puts_frames_where_they_belong, 0,
	                    sizeof(stacks) / sizeof(stacks[0]));
	tcase_add_test(tests, keeps_frames_below_a_cut);
	tcase_add_loop_test(tests, goes_on_where_a_cframe_is_not_filled, 0, 2);
	tcase_add_test(tests, takes_a_returning_frame_for_the_leaf);
	tcase_add_loop_test(tests, leaves_out_native_frames_before_python_ones, 0, 5);
	tcase_add_loop_test(tests, cuts_deep_recursion_at_its_root, 0, 4);
	suite_add_tcase(suite, tests);
	return suite;
}
