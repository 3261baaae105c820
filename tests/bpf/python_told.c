/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the walker reports of code objects and threads, how it finds a thread's state, and what it
 * reports about the GIL.
 */
#include "tests/bpf/python_world.h"
#include "tests/bpf/suites.h"

#include <string.h>

static const struct python_plan plan = {PYTHON_ENTRY_SHIM, false, "cecer", {"a", "bab"}};

START_TEST(tells_each_code_object_once)
{
	_cleanup_(python_world_freep) struct python_world *world = python_world_new(&plan);
	const struct python_told *told = world->told;

	python_walk_text(world);
	python_walk_text(world);
	ck_assert_uint_eq(world->told_count, 2);
	ck_assert_uint_eq(told->code.pid, RECORDED_PID);
	ck_assert_uint_eq(told->code.version, 0x030c);
	ck_assert_uint_eq(told->code.first_line, 'a');
	ck_assert_uint_eq(told->code.lines_bytes, 4);
	ck_assert_uint_eq(told->code.lines_address, PY_LINES + 8);
	ck_assert_uint_eq(told->code.name_kind, 1);
	ck_assert_uint_eq(told->code.cut, 0);
	ck_assert_uint_eq(told->len, 1 + 5 + 4);
	ck_assert_int_eq(memcmp(told->texts, "a/x.py\1\2\3\4", told->len), 0);
	ck_assert_uint_eq(told[0].code.signature & WORD_KIND, 0);
	ck_assert_uint_ne(told[0].code.signature, told[1].code.signature);
	ck_assert_uint_eq(world->result.counters[COUNTER_python_codes], 0);
}
END_TEST

START_TEST(tells_again_what_was_lost)
{
	_cleanup_(python_world_freep) struct python_world *world = python_world_new(&plan);

	world->ring_full = true;
	python_walk_text(world);
	ck_assert_uint_eq(world->result.counters[COUNTER_python_codes], 0);
	ck_assert_uint_ge(world->result.counters[COUNTER_python_codes_lost], 2);
	world->ring_full = false;
	ck_assert_str_eq(python_walk_text(world), "c a+2 L c b+4 a+2 b+4 L r");
	ck_assert_uint_eq(world->result.counters[COUNTER_python_codes], 2);
}
END_TEST

/* The number of bytes that a user's programs can report until the user's share is used up. */
static u64 tell_all(struct python_world *world, u32 uid)
{
	u64 before = world->python.codes_told;

	world->python.uid = uid;
	do {
		memset(world->python.sent, 0, sizeof(world->python.sent));
		world->told_count = 0;
		python_walk_text(world);
		ck_assert_uint_lt(world->python.codes_told - world->python.codes_read,
		                  PYTHON_CODES_BYTES);
	} while (!world->result.counters[COUNTER_python_codes_put_off]);
	return world->python.codes_told - before;
}

/* A user whose programs report more than is read leaves room for others: for a new user, and always
 * for root. Room that reading frees is not the user's alone. */
START_TEST(tells_so_much_of_a_user)
{
	_cleanup_(python_world_freep) struct python_world *world = python_world_new(&plan);
	const u64 others = PYTHON_CODES_BYTES - PYTHON_CODES_BYTES / 8, more = 16384;
	u64 first = tell_all(world, 1000);

	ck_assert_uint_ge(first, others / 2);
	ck_assert_uint_lt(first, others / 2 + MAX_PYTHON_CODE);
	ck_assert_uint_eq(tell_all(world, 1000), 0);
	ck_assert_uint_ge(tell_all(world, 1001), others / 4 - MAX_PYTHON_CODE);
	for (u32 uid = 1002; uid < 1040; uid++)
		tell_all(world, uid);
	ck_assert_uint_ge(tell_all(world, 0), PYTHON_CODES_BYTES / 16 - MAX_PYTHON_CODE);
	world->python.codes_read += more;
	ck_assert_uint_le(tell_all(world, 1000), more);
	/* Once everything is read, reporting goes on, and objects that were put off are
	 * reported. */
	world->python.codes_read = world->python.codes_told;
	world->python.uid = 1001;
	python_walk_text(world);
	ck_assert_uint_eq(world->told_count, 2);
}
END_TEST

/* The same bound holds for threads, which go through the same ring buffer. */
START_TEST(tells_so_many_threads_of_a_user)
{
	_cleanup_(python_world_freep) struct python_world *world = python_world_new(&plan);

	tell_all(world, 1000);
	world->python.process.interpreter_modules = 32;
	python_walk_text(world);
	ck_assert_uint_eq(world->result.counters[COUNTER_python_threads_lost], 1);
	world->python.codes_read = world->python.codes_told;
	python_walk_text(world);
	ck_assert_uint_eq(world->result.counters[COUNTER_python_threads_told], 1);
}
END_TEST

/* If a code object's slot is taken by another code object, both are remembered. */
START_TEST(remembers_two_in_a_slot)
{
	_cleanup_(python_world_freep) struct python_world *world = python_world_new(&plan);
	u64 signature;

	python_walk_text(world);
	signature = world->told[0].code.signature;
	world->python.sent[signature % PYTHON_SENT] = signature + PYTHON_SENT;
	world->told_count = 0;
	python_walk_text(world);
	python_walk_text(world);
	ck_assert_uint_eq(world->told_count, 1);
	ck_assert_uint_eq(world->python.sent[(signature % PYTHON_SENT) ^ 1],
	                  signature + PYTHON_SENT);
}
END_TEST

/* Names of each kind; `state` is kind << 2 | ascii << 5. */
static const struct {
	u64 length, state;
	u16 bytes;
	u8 kind, cut;
} texts[] = {
	{3, 1 << 2 | 1 << 5, 3, 1, 0},
	{3, 1 << 2, 3, 3, 0},
	{3, 2 << 2, 6, 2, 0},
	{3, 4 << 2, 12, 4, 0},
	{256, 1 << 2, 256, 3, 0},
	{257, 1 << 2, 256, 3, 1},
	{200, 2 << 2, 256, 2, 1},
	{1 << 30, 4 << 2, 256, 4, 1},
	{(1 << 30) + 1, 1 << 2, 0, 0, 0},
	{-1ULL, 1 << 2, 0, 0, 0},
	{3, 3 << 2, 0, 0, 0},
	{3, 0, 0, 0, 0},
	{0, 1 << 2 | 1 << 5, 0, 1, 0},
};

START_TEST(copies_names_of_each_kind)
{
	_cleanup_(python_world_freep) struct python_world *world = python_world_new(&plan);
	const struct python_code *code = &world->told[0].code;

	python_put(world, PY_NAME('a'), texts[_i].length);
	python_put(world, PY_NAME('a') + 8, texts[_i].state);
	python_walk_text(world);
	ck_assert_uint_eq(code->first_line, 'a');
	ck_assert_uint_eq(code->name_bytes, texts[_i].bytes);
	ck_assert_uint_eq(code->name_kind, texts[_i].kind);
	ck_assert_uint_eq(code->cut & 1, texts[_i].cut);
	ck_assert_uint_eq(code->file_bytes, 5);
	ck_assert_int_eq(memcmp(world->told[0].texts + code->name_bytes, "/x.py", 5), 0);
}
END_TEST

START_TEST(cuts_a_long_line_table)
{
	_cleanup_(python_world_freep) struct python_world *world = python_world_new(&plan);

	python_put(world, PY_LINES, 100000);
	python_put(world, PY_LINES + 4096, 0);
	python_walk_text(world);
	ck_assert_uint_eq(world->told[0].code.lines_bytes, 100000);
	ck_assert_uint_eq(world->told[0].len, 1 + 5 + MAX_PYTHON_LINES);
}
END_TEST

START_TEST(remembers_its_thread_state)
{
	_cleanup_(python_world_freep) struct python_world *world = python_world_new(&plan);
	u64 other = PY_THREAD + 0x1000, reads;

	for (u64 i = 0; i < 50; i++) {
		python_put(world, other + i * 0x100 + AT_THREAD_NEXT,
		           i < 49 ? other + (i + 1) * 0x100 : PY_THREAD);
		python_put(world, other + i * 0x100 + AT_THREAD_ID, PY_POINTER + 0x10000 * (i + 1));
	}
	python_put(world, PY_INTERPRETER + AT_INTERPRETER_THREADS, other);
	ck_assert_str_eq(python_walk_text(world), "c a+2 L c b+4 a+2 b+4 L r");
	reads = world->result.reads;
	ck_assert_str_eq(python_walk_text(world), "c a+2 L c b+4 a+2 b+4 L r");
	ck_assert_uint_lt(world->result.reads + 90, reads);
	/* Another thread reuses the state, so this thread has none now. */
	python_put(world, PY_THREAD + AT_THREAD_ID, PY_POINTER + 0x999000);
	ck_assert_str_eq(python_walk_text(world), "c e c e r");
	ck_assert_uint_eq(world->result.counters[COUNTER_python_no_thread], 1);
	ck_assert_uint_eq(world->result.gil, GIL_UNKNOWN);
}
END_TEST

START_TEST(tells_each_thread_once)
{
	_cleanup_(python_world_freep) struct python_world *world = python_world_new(&plan);
	const struct python_thread_told *thread = &world->thread;

	python_walk_text(world);
	ck_assert_uint_eq(world->thread_count, 0);
	world->python.process.interpreter_modules = 32;
	world->ring_full = true;
	python_walk_text(world);
	ck_assert_uint_eq(world->result.counters[COUNTER_python_threads_lost], 1);
	world->ring_full = false;
	ck_assert_str_eq(python_walk_text(world), "c a+2 L c b+4 a+2 b+4 L r");
	ck_assert_uint_eq(world->result.counters[COUNTER_python_threads_told], 1);
	python_walk_text(world);
	ck_assert_uint_eq(world->thread_count, 1);
	ck_assert_uint_eq(thread->word & WORD_VALUE, PY_POINTER);
	ck_assert_uint_eq(thread->pid, RECORDED_PID);
	ck_assert_uint_eq(thread->tid, RECORDED_PID);
	/* The state at this place now belongs to another thread. */
	world->python.thread_pointer = PY_POINTER + 0x10000;
	python_put(world, PY_THREAD + AT_THREAD_ID, PY_POINTER + 0x10000);
	python_walk_text(world);
	ck_assert_uint_eq(world->thread_count, 2);
	ck_assert_uint_eq(thread->word & WORD_VALUE, PY_POINTER + 0x10000);
}
END_TEST

/* interpreters.create() leaves such lists: the first interpreters have no threads. */
START_TEST(passes_idle_interpreters)
{
	_cleanup_(python_world_freep) struct python_world *world = python_world_new(&plan);
	u64 idle = PY_INTERPRETER + 0x1000;

	for (u64 i = 0; i < 40; i++)
		python_put(world, idle + i * 0x100 + AT_INTERPRETER_NEXT,
		           i < 39 ? idle + (i + 1) * 0x100 : PY_INTERPRETER);
	python_put(world, PY_INTERPRETERS, idle);
	ck_assert_str_eq(python_walk_text(world), "c a+2 L c b+4 a+2 b+4 L r");
}
END_TEST

/* A new thread state in an interpreter that is not the first does not change the beginnings of the
 * lists. It is found all the same. */
START_TEST(sees_a_state_in_an_older_interpreter)
{
	_cleanup_(python_world_freep) struct python_world *world = python_world_new(&plan);
	u64 interpreter = PY_INTERPRETER + 0x1000, thread = PY_THREAD + 0x1000;

	python_put(world, PY_INTERPRETERS, interpreter);
	python_put(world, interpreter + AT_INTERPRETER_NEXT, PY_INTERPRETER);
	python_put(world, interpreter + AT_INTERPRETER_THREADS, thread);
	python_put(world, thread + AT_THREAD_ID, PY_POINTER);
	python_put(world, PY_INTERPRETER + AT_INTERPRETER_THREADS, 0);
	ck_assert_str_eq(python_walk_text(world), "c e c e r");
	python_put(world, PY_INTERPRETER + AT_INTERPRETER_THREADS, PY_THREAD);
	ck_assert_str_eq(python_walk_text(world), "c a+2 L c b+4 a+2 b+4 L r");
}
END_TEST

/* An empty name is reported like any other and not again. Code that was compiled from a string may
 * have the file name "". */
START_TEST(tells_an_empty_name_once)
{
	_cleanup_(python_world_freep) struct python_world *world = python_world_new(&plan);

	python_put(world, PY_FILE, 0);
	python_walk_text(world);
	ck_assert_uint_eq(world->result.counters[COUNTER_python_codes], 2);
	ck_assert_uint_eq(world->result.counters[COUNTER_python_codes_lost], 0);
	python_walk_text(world);
	ck_assert_uint_eq(world->told_count, 2);
}
END_TEST

/* A new code object may be allocated at the address of an old one and differ from it only in its
 * line table. */
START_TEST(tells_of_what_took_its_place)
{
	_cleanup_(python_world_freep) struct python_world *world = python_world_new(&plan);

	python_walk_text(world);
	python_put(world, PY_CODE('a') + AT_CODE_LINES, PY_LINES + 0x100);
	python_walk_text(world);
	ck_assert_uint_gt(world->told_count, 2);
	ck_assert_uint_ne(world->told[0].code.signature, world->told[2].code.signature);
}
END_TEST

/* The same thread has a state with a frame in another interpreter as well. */
START_TEST(takes_the_interpreter_that_runs)
{
	_cleanup_(python_world_freep) struct python_world *world = python_world_new(&plan);
	u64 interpreter = PY_INTERPRETER + 0x1000, thread = PY_THREAD + 0x1000;

	python_put(world, PY_INTERPRETERS, interpreter);
	python_put(world, interpreter + AT_INTERPRETER_NEXT, PY_INTERPRETER);
	python_put(world, interpreter + AT_INTERPRETER_THREADS, thread);
	python_put(world, interpreter + AT_INTERPRETER_GIL, PY_GIL);
	python_put(world, thread + AT_THREAD_ID, PY_POINTER);
	python_put(world, thread + AT_THREAD_FRAME, PY_FRAME(1));
	ck_assert_str_eq(python_walk_text(world), "c a+2 L c b+4 a+2 b+4 L r");
	python_put(world, PY_GIL, thread);
	ck_assert_str_ne(python_walk_text(world), "c a+2 L c b+4 a+2 b+4 L r");
	python_put(world, PY_GIL, PY_THREAD);
	ck_assert_str_eq(python_walk_text(world), "c a+2 L c b+4 a+2 b+4 L r");
}
END_TEST

static const struct {
	u64 holder, locked;
	u8 free_threaded;
	bool unreadable;
	u32 gil;
} gils[] = {
	{PY_THREAD, 1, 0, false, GIL_HELD},          {PY_THREAD, 0, 0, false, GIL_RELEASED},
	{PY_THREAD + 64, 1, 0, false, GIL_RELEASED}, {0, 1, 0, false, GIL_RELEASED},
	{PY_THREAD, 1, 1, false, GIL_NONE},          {PY_THREAD, 1, 0, true, GIL_UNKNOWN},
};

START_TEST(says_who_has_the_gil)
{
	_cleanup_(python_world_freep) struct python_world *world = python_world_new(&plan);

	python_put(world, PY_GIL, gils[_i].holder);
	python_put(world, PY_GIL + 8, gils[_i].locked);
	world->python.process.free_threaded = gils[_i].free_threaded;
	if (gils[_i].unreadable)
		python_put(world, PY_INTERPRETER + AT_INTERPRETER_GIL, PY_GIL + 0x100000000);
	python_walk_text(world);
	ck_assert_uint_eq(world->result.gil, gils[_i].gil);
}
END_TEST

/* In free-threaded builds each thread has its own copy of the bytecode. */
START_TEST(counts_from_the_thread_s_bytecode)
{
	_cleanup_(python_world_freep) struct python_world *world = python_world_new(&plan);
	u64 array = 0x500000, own = 0x600000;

	world->python.process.frame_tlbc = AT_FRAME_TLBC;
	world->python.process.code_tlbc = AT_CODE_TLBC;
	python_put(world, array, 2);
	python_put(world, array + 8, PY_CODE('a') + AT_CODE_BYTECODE);
	python_put(world, array + 16, own);
	python_put(world, PY_CODE('a') + AT_CODE_TLBC, array);
	python_put(world, PY_FRAME(0) + AT_FRAME_OWNER, 1ULL << 32);
	python_put(world, PY_FRAME(0) + AT_FRAME_INSTRUCTION, own + 34);
	ck_assert_str_eq(python_walk_text(world), "c a+34 L c b+4 a+2 b+4 L r");
	/* An index beyond the end of the array. */
	python_put(world, PY_FRAME(0) + AT_FRAME_OWNER, 2ULL << 32);
	ck_assert_str_eq(python_walk_text(world), "c a+0 L c b+4 a+2 b+4 L r");
}
END_TEST

Suite *python_told_suite(void)
{
	Suite *suite = suite_create("python_told");
	TCase *tests = tcase_create("told");

	tcase_add_test(tests, tells_each_code_object_once);
	tcase_add_test(tests, tells_again_what_was_lost);
	tcase_add_test(tests, tells_so_much_of_a_user);
	tcase_add_test(tests, tells_so_many_threads_of_a_user);
	tcase_add_test(tests, remembers_two_in_a_slot);
	tcase_add_loop_test(tests, copies_names_of_each_kind, 0, sizeof(texts) / sizeof(texts[0]));
	tcase_add_test(tests, cuts_a_long_line_table);
	tcase_add_test(tests, tells_each_thread_once);
	tcase_add_test(tests, remembers_its_thread_state);
	tcase_add_test(tests, passes_idle_interpreters);
	tcase_add_test(tests, sees_a_state_in_an_older_interpreter);
	tcase_add_test(tests, tells_an_empty_name_once);
	tcase_add_test(tests, tells_of_what_took_its_place);
	tcase_add_test(tests, takes_the_interpreter_that_runs);
	tcase_add_loop_test(tests, says_who_has_the_gil, 0, sizeof(gils) / sizeof(gils[0]));
	tcase_add_test(tests, counts_from_the_thread_s_bytecode);
	suite_add_tcase(suite, tests);
	return suite;
}
