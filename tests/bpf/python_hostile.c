/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Structures that no CPython has, or has only for a moment: the walk ends and keeps the frames that
 * it can.
 */
#include "tests/bpf/python_world.h"
#include "tests/bpf/suites.h"

#include <string.h>

static const struct python_plan plan = {PYTHON_ENTRY_SHIM, false, "cecer", {"a", "bcd"}};

/* One word of the structures is replaced. */
static const struct {
	const char *name;
	u64 address, word;
	const char *text;
	u32 broken;
} words[] = {
	{"no interpreter", PY_INTERPRETERS, 0, "c e c e r", 0},
	{"an interpreter that is not there", PY_INTERPRETERS, 1ULL << 40, "c e c e r", 0},
	{"no threads", PY_INTERPRETER + AT_INTERPRETER_THREADS, 0, "c e c e r", 0},
	{"interpreters in a circle", PY_INTERPRETER + AT_INTERPRETER_NEXT, PY_INTERPRETER,
         "c a+2 L c b+4 c+6 d+8 L r", 0},
	{"threads in a circle", PY_THREAD + AT_THREAD_NEXT, PY_THREAD, "c a+2 L c b+4 c+6 d+8 L r",
         0},
	{"another thread's state", PY_THREAD + AT_THREAD_ID, PY_POINTER + 64, "c e c e r", 0},
	{"no frame", PY_THREAD + AT_THREAD_FRAME, 0, "c e c e r", 0},
	{"a kernel address for a frame", PY_THREAD + AT_THREAD_FRAME, 0xffff888000000000ULL,
         "c e c e r", 0},
	{"a frame that is not there", PY_THREAD + AT_THREAD_FRAME, 1ULL << 40, "c e c e r", 1},
	{"a frame whose caller is not there", PY_FRAME(2) + AT_FRAME_PREVIOUS, 1ULL << 40,
         "c a+2 L c e r b+4 c+6", 1},
	{"a frame that is its own caller", PY_FRAME(3) + AT_FRAME_PREVIOUS, 0,
         "c a+2 L c e r b+4 c+6 d+8", 0},
	{"a code object that is none", PY_FRAME(0) + AT_FRAME_CODE, PY_LINES,
         "c L c b+4 c+6 d+8 L r", 0},
	{"a code object that is not there", PY_FRAME(0) + AT_FRAME_CODE, 1ULL << 40,
         "c L c b+4 c+6 d+8 L r", 1},
	{"a tagged code object", PY_FRAME(0) + AT_FRAME_CODE, PY_CODE('a') | 3,
         "c a+0 L c b+4 c+6 d+8 L r", 0},
	{"an instruction before the code", PY_FRAME(0) + AT_FRAME_INSTRUCTION, 5,
         "c a+0 L c b+4 c+6 d+8 L r", 0},
	{"an instruction far behind the code", PY_FRAME(0) + AT_FRAME_INSTRUCTION,
         PY_CODE('a') + AT_CODE_BYTECODE + (1 << 24) + 1, "c a+0 L c b+4 c+6 d+8 L r", 0},
};

START_TEST(keeps_what_can_be_read)
{
	_cleanup_(python_world_freep) struct python_world *world = python_world_new(&plan);
	const char *text;

	python_put(world, words[_i].address, words[_i].word);
	if (words[_i].word == (PY_CODE('a') | 3))
		python_put(world, PY_FRAME(0) + AT_FRAME_INSTRUCTION, 0);
	text = python_walk_text(world);
	ck_assert_msg(strcmp(text, words[_i].text) == 0, "%s: \"%s\", not \"%s\"", words[_i].name,
	              text, words[_i].text);
	ck_assert_uint_eq(world->result.counters[COUNTER_python_broken], words[_i].broken);
	ck_assert_str_eq(world->result.ended, "walk_complete");
}
END_TEST

/* A process that has called exec: the CPython of its previous program is still described, but the
 * walker reads nothing by that description. */
START_TEST(reads_nothing_of_the_next_program)
{
	_cleanup_(python_world_freep) struct python_world *world = python_world_new(&plan);

	memset(world->world->maps.slots, 0, world->world->maps.slot_count * sizeof(u64));
	python_walk_text(world);
	ck_assert_uint_eq(world->result.counters[COUNTER_python_frames], 0);
	ck_assert_uint_eq(world->result.counters[COUNTER_python_no_thread], 0);
	ck_assert_uint_eq(world->thread_count, 0);
	ck_assert_uint_eq(world->told_count, 0);
}
END_TEST

/* A frame that leads back to one that was walked already. */
START_TEST(leaves_a_circle)
{
	_cleanup_(python_world_freep) struct python_world *world = python_world_new(&plan);

	python_put(world, world->entries[1] + AT_FRAME_PREVIOUS, PY_FRAME(0));
	ck_assert_str_eq(python_walk_text(world), "c a+2 L c b+4 c+6 d+8 L r a+2");
	ck_assert_uint_eq(world->result.counters[COUNTER_python_broken], 1);
	/* If no frame of the circle is an entry, only the bound on the number of frames ends the
	 * walk. */
	python_put(world, PY_FRAME(2) + AT_FRAME_PREVIOUS, PY_FRAME(1));
	python_walk_text(world);
	ck_assert_str_eq(world->result.ended, "cut_truncated");
	ck_assert_uint_lt(world->result.reads, 12000);
}
END_TEST

START_TEST(looks_through_so_many_threads_only)
{
	_cleanup_(python_world_freep) struct python_world *world = python_world_new(&plan);

	/* All thread states belong to other threads, and both lists are endless. */
	python_put(world, PY_THREAD + AT_THREAD_ID, PY_POINTER + 64);
	python_put(world, PY_THREAD + AT_THREAD_NEXT, PY_THREAD);
	python_put(world, PY_INTERPRETER + AT_INTERPRETER_NEXT, PY_INTERPRETER);
	ck_assert_str_eq(python_walk_text(world), "c e c e r");
	ck_assert_uint_lt(world->result.reads, 2 * MAX_PYTHON_SEARCHES + 100);
	ck_assert_uint_eq(world->result.counters[COUNTER_python_no_thread], 1);
}
END_TEST

/* Offsets that the daemon would never publish do not make the walker access anything outside the
 * bytes that it has read. */
START_TEST(survives_any_offsets)
{
	_cleanup_(python_world_freep) struct python_world *world = python_world_new(&plan);
	u8 *bytes = (u8 *)&world->python.process;

	for (size_t i = 8; i < sizeof(world->python.process); i++) {
		u8 before = bytes[i];

		bytes[i] = 0xff;
		python_walk_text(world);
		bytes[i] = 0x80;
		python_walk_text(world);
		world->told_count = 0;
		bytes[i] = before;
	}
	memset(bytes + 8, 0xff, sizeof(world->python.process) - 8);
	python_walk_text(world);
	ck_assert_str_eq(world->result.ended, "walk_complete");
}
END_TEST

Suite *python_hostile_suite(void)
{
	Suite *suite = suite_create("python_hostile");
	TCase *tests = tcase_create("structures");

	tcase_add_loop_test(tests, keeps_what_can_be_read, 0, sizeof(words) / sizeof(words[0]));
	tcase_add_test(tests, reads_nothing_of_the_next_program);
	tcase_add_test(tests, leaves_a_circle);
	tcase_add_test(tests, looks_through_so_many_threads_only);
	tcase_add_test(tests, survives_any_offsets);
	suite_add_tcase(suite, tests);
	return suite;
}
