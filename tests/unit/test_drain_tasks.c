/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Drained halves: what the kernel half says about a task, and the slice of each kind.
 */
#include "base/accounts.h"
#include "tests/unit/drain_fixture.h"

static const struct {
	u8 gil;
	const char *name;
} gils[] = {
	{GIL_UNKNOWN, ""},  {GIL_HELD, "held"},       {GIL_RELEASED, "released"},
	{GIL_NONE, "none"}, {GIL_WAITING, "waiting"}, {255, ""},
};

START_TEST(tasks_say_how_a_runtime_ran)
{
	static const u64 interpreted[] = {P(0xaa), O(4), L(0x1020)}, native[] = {0x1010};
	_cleanup_(profile_unrefp) struct profile *slice = NULL, *other = NULL;
	const struct task *task;

	key.gil = gils[_i].gil;
	slice = drain_words(interpreted, 3);
	task = &slice->tasks[1];
	ck_assert_str_eq(profile_string(slice, task->gil), gils[_i].name);
	ck_assert_str_eq(profile_string(slice, task->runtime), "python");
	ck_assert_str_eq(profile_string(slice, task->runtime_version), "3.8");
	ck_assert_str_eq(profile_string(slice, task->comm), "program");
	other = drain_words(native, 1);
	ck_assert_uint_eq(other->tasks[1].runtime, 0);
}
END_TEST

/* A task has the account of its user. */
START_TEST(tasks_say_whose_they_are)
{
	static const u64 words[] = {0x1010};
	_cleanup_(profile_unrefp) struct profile *slice = NULL, *other = NULL;

	accounts_set(text_of("1000:100000:65536\n", 18), text_of("", 0));
	slice = drain_words(words, 1);
	ck_assert_uint_eq(slice->tasks[1].account, 0);
	tally.user = 100001;
	other = drain_words(words, 1);
	tally.user = 0;
	accounts_clear();
	ck_assert_uint_eq(other->tasks[1].account, 1000);
}
END_TEST

#define WAIT(state, call) (WAIT_##state | WAIT_##call << WAIT_CALL_SHIFT)

static const struct {
	u16 kind;
	u8 detail;
	const char *count, *type, *memory, *state, *wait;
} kinds[] = {
	{KIND_cpu, 0, "samples", "cpu", "", "", ""},
	{KIND_rss, RESIDENT_FILE, "samples", "resident", "file", "", ""},
	{KIND_rss, RESIDENT_ANON, "samples", "resident", "anon", "", ""},
	{KIND_rss, RESIDENT_SHARED, "samples", "resident", "shared", "", ""},
	{KIND_rss, 255, "samples", "resident", "", "", ""},
	{KIND_mmap, 0, "samples", "mapped", "", "", ""},
	{KIND_offcpu, WAIT(SLEEP, FUTEX), "waits", "offcpu", "", "sleep", "futex"},
	{KIND_offcpu, WAIT(DISK, PAGE_FAULT), "waits", "offcpu", "", "disk", "page_fault"},
	{KIND_offcpu, WAIT(STOPPED, OTHER), "waits", "offcpu", "", "stopped", "other"},
	{KIND_offcpu, WAIT(RUNNABLE, OTHER), "waits", "offcpu", "", "runnable", ""},
	{KIND_offcpu, WAIT(SLEEP, CALL_COUNT), "waits", "offcpu", "", "sleep", ""},
	{KIND_offcpu, 255, "waits", "offcpu", "", "stopped", ""},
};

START_TEST(each_kind_has_its_slice)
{
	static const u64 words[] = {0x1010};
	_cleanup_(profile_unrefp) struct profile *slice = NULL;

	key.kind = kinds[_i].kind;
	key.detail = kinds[_i].detail;
	slice = drain_words(words, 1);
	ck_assert_uint_eq(slice->type_count, 2);
	ck_assert_str_eq(profile_string(slice, slice->types[0].type), kinds[_i].count);
	ck_assert_str_eq(profile_string(slice, slice->types[1].type), kinds[_i].type);
	ck_assert_str_eq(profile_string(slice, slice->period_type.type), kinds[_i].type);
	ck_assert_str_eq(profile_string(slice, slice->tasks[1].memory), kinds[_i].memory);
	ck_assert_str_eq(profile_string(slice, slice->tasks[1].state), kinds[_i].state);
	ck_assert_str_eq(profile_string(slice, slice->tasks[1].wait), kinds[_i].wait);
	ck_assert_uint_eq(slice->ticks.total, tally.count);
	ck_assert_uint_eq(slice->ticks.idle + slice->ticks.lost, 0);
}
END_TEST

Suite *drain_tasks_suite(void)
{
	Suite *suite = suite_create("drain_tasks");
	TCase *tcase = tcase_create("drain_tasks");

	tcase_add_checked_fixture(tcase, drain_set_up, drain_tear_down);
	tcase_add_loop_test(tcase, each_kind_has_its_slice, 0, sizeof(kinds) / sizeof(kinds[0]));
	tcase_add_loop_test(tcase, tasks_say_how_a_runtime_ran, 0, sizeof(gils) / sizeof(gils[0]));
	tcase_add_test(tcase, tasks_say_whose_they_are);
	suite_add_tcase(suite, tcase);
	return suite;
}
