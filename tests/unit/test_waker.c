/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tallies of who ended waits: two stacks of two processes become one call path.
 */
#include "ingest/drain.h"

#include "bpf/wait.h"
#include "ingest/source.h"
#include "profile/profile.h"
#include "tests/unit/suites.h"

#include <stdio.h>
#include <string.h>

enum { WAKER = 4000001, WAITER = 4000002, STACKS = 3 };

static struct drain_tables tables;
static struct drain_losses losses;
static struct runtimes runtimes;

static void set_up(void)
{
	static const struct file_key no_file;

	tables.store = store_new(16);
	tables.procs = procs_new(tables.store);
	tables.runtimes = &runtimes;
	losses = (struct drain_losses){0};
	procs_exec(tables.procs, WAKER, "holder", 100);
	procs_mmap(tables.procs, WAKER, 0x1000, 0x3000, 0, &no_file, "/holder");
	procs_exec(tables.procs, WAITER, "waiter", 100);
	procs_mmap(tables.procs, WAITER, 0x1000, 0x3000, 0, &no_file, "/waiter");
}

static void tear_down(void)
{
	procs_free(tables.procs);
	store_free(tables.store);
}

static const u64 stack_keys[STACKS] = {0x101, 0x102, 0x103};
static const struct stack_node stacks[STACKS] = {
	{.len = 2, .frames = {0x1100, 0x1200}},     /* the waker's, leaf first */
	{.len = 1, .frames = {0xffffffff81000000}}, /* its kernel stack */
	{.len = 2, .frames = {0x2100, 0x2200}},     /* the waiter's */
};

static struct profile *drain(struct tally_key key, struct woken woken)
{
	struct tally tally = {.count = 3, .value = 30, .last_ns = 200};
	struct drained drained = {
		.tally_keys = &key,
		.tallies = &tally,
		.tally_count = 1,
		.stack_keys = stack_keys,
		.stacks = stacks,
		.stack_count = STACKS,
	};
	struct half half = {
		.drained = &drained,
		.span = {.end_mono_ns = 300},
		.tables = &tables,
		.losses = &losses,
	};
	struct source_state state = {.kind = KIND_waker, .period = 1};
	struct profile *slice;

	key.kind = KIND_waker;
	memcpy(key.thread, &woken, sizeof(woken));
	drained.counters.values[COUNTER_wakings] = tally.count;
	ck_assert_int_eq(stack_index_build(&half.index, &drained), 0);
	ck_assert_int_eq(drain_slice(&half, &state, &slice), 0);
	stack_index_release(&half.index);
	ck_assert_uint_eq(slice->sample_count, 2);
	return slice;
}

/* Checks the only sample's path, its root first: names in brackets, or addresses. */
static void check_path(const struct profile *slice, const char *expected)
{
	char text[512] = "", rest[512];
	uint32_t node = slice->samples[1].node;

	for (; node; node = slice->nodes[node].parent) {
		const struct location *location = &slice->locations[slice->nodes[node].location];
		const struct mapping *mapping = &slice->mappings[location->mapping];

		strcpy(rest, text);
		if (mapping->kind == MAPPING_PSEUDO)
			snprintf(text, sizeof(text), "%s;%.400s",
			         profile_string(slice, mapping->path), rest);
		else
			snprintf(text, sizeof(text), "%#llx;%.400s",
			         (unsigned long long)location->address, rest);
	}
	ck_assert_str_eq(text, expected);
}

START_TEST(two_stacks_are_one_path)
{
	_cleanup_(profile_unrefp) struct profile *slice = drain(
		(struct tally_key){
			.pid = WAKER, .tid = WAKER, .user_stack = 0x101, .kernel_stack = 0x102},
		(struct woken){WAITER, WAITER + 1, 0x103});
	const struct task *task = &slice->tasks[slice->samples[1].task];

	check_path(slice,
	           "[woken by holder];0x200;0x100;0xffffffff81000000;[wakes];0x1200;0x1100;");
	ck_assert_uint_eq(task->pid, WAITER);
	ck_assert_uint_eq(task->tid, WAITER + 1);
	ck_assert_str_eq(profile_string(slice, task->comm), "waiter");
	ck_assert_uint_eq(slice->samples[1].values[0], 3);
	ck_assert_uint_eq(slice->samples[1].values[1], 30);
}
END_TEST

START_TEST(an_interrupt_has_no_process)
{
	_cleanup_(profile_unrefp) struct profile *slice =
		drain((struct tally_key){.kernel_stack = 0x102},
	              (struct woken){WAITER, WAITER, STACK_NONE});

	check_path(slice, "[woken in an interrupt];0xffffffff81000000;[wakes];");
}
END_TEST

/* Nothing is known of either process, and one stack is not there. */
START_TEST(strangers)
{
	_cleanup_(profile_unrefp) struct profile *slice =
		drain((struct tally_key){.pid = 4000005, .tid = 4000005, .user_stack = 0x101},
	              (struct woken){4000006, 4000006, 0x777});

	check_path(slice, "[woken by a process not known];[unknown: address outside every "
	                  "mapping];[wakes];[unknown: stack lost];");
}
END_TEST

Suite *waker_suite(void)
{
	Suite *suite = suite_create("waker");
	TCase *tcase = tcase_create("waker");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, two_stacks_are_one_path);
	tcase_add_test(tcase, an_interrupt_has_no_process);
	tcase_add_test(tcase, strangers);
	suite_add_tcase(suite, tcase);
	return suite;
}
