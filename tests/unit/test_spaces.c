/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Slots and runs of mappings: which processes have one and when, what walkers may still read, what
 * an exec does, and what happens when there is no room.
 */
#include "unwind/spaces.h"

#include "base/clock.h"
#include "tests/unit/suites.h"
#include "tests/unit/unwind_fixture.h"

#include <sched.h>
#include <unistd.h>

START_TEST(stays_in_step)
{
	procs_exec(fixture.procs, PID, "one", 1);
	fixture_start();
	fixture_sync_now();
	ck_assert_uint_eq(fixture_slot_of(PID), 0); /* nothing mapped */
	procs_mmap(fixture.procs, PID, 0x1000, 0x3000, 0, &no_file, "");
	procs_mmap(fixture.procs, PID, 0x5000, 0x6000, 0, &no_file, "[jit]");
	ck_assert_uint_eq(fixture_slot_of(PID), 0);
	fixture_sync_now();
	ck_assert_uint_eq(fixture_slot_of(PID) & SLOT_COUNT_MAX, 2);
	ck_assert_uint_eq(fixture_find_mapping(PID, 0x5fff)->table, 0);
	ck_assert_ptr_null(fixture_find_mapping(PID, 0x4000));

	/* A child has the same run until its mappings change. */
	procs_fork(fixture.procs, PID, PID + 1, 2);
	fixture_sync_now();
	ck_assert_uint_eq(fixture_first_of(fixture_slot_of(PID + 1)),
	                  fixture_first_of(fixture_slot_of(PID)));
	ck_assert_uint_eq(fixture_stats().mappings, 2);
	procs_mmap(fixture.procs, PID + 1, 0x8000, 0x9000, 0, &no_file, "");
	fixture_sync_now();
	ck_assert_uint_ne(fixture_first_of(fixture_slot_of(PID + 1)),
	                  fixture_first_of(fixture_slot_of(PID)));
	ck_assert_ptr_nonnull(fixture_find_mapping(PID + 1, 0x8000));
	ck_assert_ptr_null(fixture_find_mapping(PID, 0x8000));
	ck_assert_uint_eq(fixture_stats().processes, 2);

	procs_exit(fixture.procs, PID, PID, 3);
	fixture_sync_now();
	ck_assert_uint_eq(fixture_slot_of(PID), 0);
	procs_exec(fixture.procs, PID + 1, "two", 4);
	fixture_sync_now();
	ck_assert_uint_eq(fixture_slot_of(PID + 1), 0);
	ck_assert_uint_eq(fixture_stats().processes, 0);
	ck_assert_uint_eq(fixture_stats().mappings, 0);
}
END_TEST

START_TEST(walkers_keep_what_they_read)
{
	procs_mmap(fixture.procs, PID, 0x1000, 0x3000, 0, &no_file, "");
	procs_exec(fixture.procs, PID, "one", 1);
	procs_mmap(fixture.procs, PID, 0x1000, 0x3000, 0, &no_file, "");
	fixture_start();
	fixture_sync_now();
	uint32_t first = fixture_first_of(fixture_slot_of(PID));

	fixture.is_quiet = false;
	for (uint64_t i = 1; i < 20; i++) {
		procs_mmap(fixture.procs, PID, 0x1000 + 0x10000 * i, 0x3000 + 0x10000 * i, 0,
		           &no_file, "");
		fixture_sync_now();
		ck_assert_uint_ne(fixture_first_of(fixture_slot_of(PID)), first);
		ck_assert_uint_eq(fixture_slot_of(PID) & SLOT_COUNT_MAX, i + 1);
		ck_assert_uint_eq(fixture.memory.mappings[first].start, 0x1000);
		ck_assert_int_eq(fixture.asked, (int)i);
	}
	ck_assert_uint_eq(fixture_stats().mappings, 20 * 21 / 2);
	fixture.is_quiet = true;
	fixture_sync_now();
	ck_assert_uint_eq(fixture_stats().mappings, 20);
	fixture_sync_now();
	ck_assert_int_eq(fixture.asked, 20); /* no further question */
	procs_fork(fixture.procs, PID, PID + 1, 2);
	procs_mmap(fixture.procs, PID + 1, 0x1000, 0x2000, 0, &no_file, "");
	fixture_sync_now();
	ck_assert_uint_eq(fixture_first_of(fixture_slot_of(PID + 1)), first); /* used again */
}
END_TEST

/* A walker on another thread. Each run that it finds must stay intact while it is busy. */
struct walker {
	uv_thread_t thread;
	int busy, stop;
	unsigned long runs, torn;
};

static void walk(void *arg)
{
	struct walker *walker = arg;
	uint64_t *slot = &fixture.memory.slots[(PID * SLOTS_PER_BUCKET) & (SLOTS - 1)];

	while (!__atomic_load_n(&walker->stop, __ATOMIC_RELAXED)) {
		__atomic_exchange_n(&walker->busy, 1, __ATOMIC_SEQ_CST);
		uint64_t value = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
		volatile struct unwind_mapping *run =
			&fixture.memory.mappings[fixture_first_of(value)];
		/* Slow, so that the other thread makes progress meanwhile. */
		for (uint32_t i = 0; i < 1000 * (value & SLOT_COUNT_MAX); i++) {
			uint32_t at = i % (value & SLOT_COUNT_MAX);
			walker->torn += run[at].end - run[at].start != run[0].end - run[0].start;
		}
		__atomic_fetch_add(&walker->runs, value != 0, __ATOMIC_RELAXED);
		__atomic_store_n(&walker->busy, 0, __ATOMIC_RELEASE);
	}
}

static bool walker_is_out(void *ctx)
{
	struct walker *walker = ctx;

	for (int tries = 0; tries < 100; tries++) {
		if (!__atomic_load_n(&walker->busy, __ATOMIC_SEQ_CST))
			return true;
		sched_yield();
	}
	return false;
}

START_TEST(a_walker_meanwhile)
{
	struct walker walker = {0};

	fixture.memory.mapping_count = 64;
	fixture.memory.quiet = walker_is_out;
	fixture.memory.ctx = &walker;
	fixture_start();
	ck_assert_int_eq(uv_thread_create(&walker.thread, walk, &walker), 0);
	uint64_t begin = clock_mono_ns();
	for (uint64_t i = 1; __atomic_load_n(&walker.runs, __ATOMIC_RELAXED) < 5000 &&
	                     clock_mono_ns() - begin < 5 * NSEC_PER_SEC;
	     i++) {
		procs_exec(fixture.procs, PID, "next", i);
		for (uint64_t j = 0; j < 7; j++)
			procs_mmap(fixture.procs, PID, j << 20, (j << 20) + (i % 200 + 1) * 4096, 0,
			           &no_file, "");
		unwinder_sync(fixture.unwinder, i);
		procs_expire(fixture.procs, i);
	}
	__atomic_store_n(&walker.stop, 1, __ATOMIC_RELAXED);
	uv_thread_join(&walker.thread);
	ck_assert_uint_gt(walker.runs, 0);
	ck_assert_uint_eq(walker.torn, 0);
}
END_TEST

START_TEST(exec_withdraws)
{
	uint32_t at = PID & (EXEC_TIMES - 1);

	procs_exec(fixture.procs, PID, "one", 1);
	procs_mmap(fixture.procs, PID, 0x1000, 0x3000, 0, &no_file, "");
	fixture_start();
	unwinder_sync(fixture.unwinder, 100);
	ck_assert_uint_ne(fixture_slot_of(PID), 0);

	/* The kernel half clears the slot at an exec; after that a record from before the exec
	 * arrives. */
	fixture.memory.execs[at] = 200;
	fixture.memory.slots[(PID * SLOTS_PER_BUCKET) & (SLOTS - 1)] = 0;
	procs_mmap(fixture.procs, PID, 0x8000, 0x9000, 0, &no_file, "");
	unwinder_sync(fixture.unwinder, 150);
	ck_assert_uint_eq(fixture_slot_of(PID), 0);
	unwinder_sync(fixture.unwinder, 199);
	ck_assert_uint_eq(fixture_slot_of(PID), 0);
	procs_exec(fixture.procs, PID, "two", 200);
	procs_mmap(fixture.procs, PID, 0x4000, 0x5000, 0, &no_file, "");
	unwinder_sync(fixture.unwinder, 250);
	ck_assert_uint_eq(fixture_slot_of(PID) & SLOT_COUNT_MAX, 1);
	ck_assert_ptr_nonnull(fixture_find_mapping(PID, 0x4000));

	/* The exec of a process with the same entry leaves existing mappings alone, and only delays
	 * new ones. */
	fixture.memory.execs[at] = 300;
	procs_mmap(fixture.procs, PID, 0x6000, 0x7000, 0, &no_file, "");
	unwinder_sync(fixture.unwinder, 299);
	ck_assert_uint_eq(fixture_slot_of(PID) & SLOT_COUNT_MAX, 1);
	unwinder_sync(fixture.unwinder, 300);
	ck_assert_uint_eq(fixture_slot_of(PID) & SLOT_COUNT_MAX, 2);

	/* A cleared slot is filled again when another record of its process arrives. */
	fixture.memory.slots[(PID * SLOTS_PER_BUCKET) & (SLOTS - 1)] = 0;
	procs_fork(fixture.procs, PID, PID + 1, 301);
	procs_mmap(fixture.procs, PID, 0x6000, 0x7000, 0, &no_file, "");
	unwinder_sync(fixture.unwinder, 400);
	ck_assert_uint_ne(fixture_slot_of(PID), 0);
	ck_assert_uint_eq(fixture_stats().processes, 2);
}
END_TEST

/* The slot of a process is cleared by an exec although its mappings are already up to date: no
 * further record arrives for it. */
START_TEST(cleared_behind_the_back)
{
	uint64_t *slot = &fixture.memory.slots[(PID * SLOTS_PER_BUCKET) & (SLOTS - 1)], value;

	procs_exec(fixture.procs, PID, "one", 1);
	procs_mmap(fixture.procs, PID, 0x1000, 0x3000, 0, &no_file, "");
	fixture_start();
	unwinder_sync(fixture.unwinder, 100);
	value = fixture_slot_of(PID);
	ck_assert_uint_ne(value, 0);

	*slot = 0;
	uint64_t begin = clock_mono_ns();
	while (*slot == 0 && clock_mono_ns() - begin < 2 * NSEC_PER_SEC) {
		usleep(10 * 1000);
		unwinder_sync(fixture.unwinder, 100);
	}
	ck_assert_uint_eq(*slot, value);

	/* The slot stays clear while the known mappings may be from before an exec. */
	fixture.memory.execs[PID & (EXEC_TIMES - 1)] = 200;
	*slot = 0;
	for (begin = clock_mono_ns(); clock_mono_ns() - begin < 1200 * NSEC_PER_MSEC;) {
		usleep(10 * 1000);
		unwinder_sync(fixture.unwinder, 199);
		ck_assert_uint_eq(*slot, 0);
	}
	unwinder_sync(fixture.unwinder, 200);
	ck_assert_uint_eq(*slot, value);
	ck_assert_uint_eq(fixture_stats().processes, 1);
	ck_assert_uint_eq(fixture_stats().mappings, 1);

	/* A process that has ended gets no slot again. */
	procs_exit(fixture.procs, PID, PID, 201);
	unwinder_sync(fixture.unwinder, 201);
	for (begin = clock_mono_ns(); clock_mono_ns() - begin < 1200 * NSEC_PER_MSEC;) {
		usleep(10 * 1000);
		unwinder_sync(fixture.unwinder, 201);
		ck_assert_uint_eq(*slot, 0);
	}
	ck_assert_uint_eq(fixture_stats().processes, 0);
}
END_TEST

START_TEST(no_room_for_processes)
{
	fixture.memory.slot_count = SLOTS_PER_BUCKET;
	procs_exec(fixture.procs, PID, "parent", 1);
	procs_mmap(fixture.procs, PID, 0x1000, 0x3000, 0, &no_file, "");
	for (uint32_t i = 1; i < 20; i++)
		procs_fork(fixture.procs, PID, PID + i, 2);
	fixture_start();
	fixture_sync_now();
	ck_assert_uint_eq(fixture_stats().processes, SLOTS_PER_BUCKET);
	ck_assert_uint_eq(fixture_stats().processes_refused, 12);
	/* Refused processes are tried again when others have ended. */
	for (uint32_t i = 0; i < 20; i++) {
		if (fixture_slot_of(PID + i))
			procs_exit(fixture.procs, PID + i, PID + i, 3);
	}
	fixture_sync_now();
	for (int i = 0; i < 4 && fixture_stats().processes < SLOTS_PER_BUCKET; i++) {
		usleep(60 * 1000);
		fixture_sync_now();
		fixture_sync_now();
	}
	ck_assert_uint_eq(fixture_stats().processes, SLOTS_PER_BUCKET);
}
END_TEST

START_TEST(no_room_for_mappings)
{
	fixture.memory.mapping_count = 12; /* grains 1 and 2: eight mappings */
	fixture_start();
	for (uint64_t i = 0; i < 9; i++)
		procs_mmap(fixture.procs, PID, 0x1000 * i * 2, 0x1000 * (i * 2 + 1), 0, &no_file,
		           "");
	procs_exec(fixture.procs, PID, "large", 1);
	for (uint64_t i = 0; i < 9; i++)
		procs_mmap(fixture.procs, PID, 0x1000 * i * 2, 0x1000 * (i * 2 + 1), 0, &no_file,
		           "");
	procs_exec(fixture.procs, PID + 1, "small", 1);
	procs_mmap(fixture.procs, PID + 1, 0x1000, 0x3000, 0, &no_file, "");
	fixture_sync_now();
	ck_assert_uint_eq(fixture_slot_of(PID), 0);
	ck_assert_uint_ne(fixture_slot_of(PID + 1), 0);
	ck_assert_uint_eq(fixture_stats().processes_refused, 1);
	/* The process has outgrown its room, and its earlier mappings no longer hold. */
	for (uint64_t i = 0; i < 9; i++)
		procs_mmap(fixture.procs, PID + 1, 0x10000 * i, 0x10000 * i + 0x1000, 0, &no_file,
		           "");
	fixture_sync_now();
	ck_assert_uint_eq(fixture_slot_of(PID + 1), 0);
	ck_assert_uint_eq(fixture_stats().mappings, 0);
}
END_TEST

Suite *spaces_suite(void)
{
	Suite *suite = suite_create("spaces");
	TCase *tcase = tcase_create("spaces");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, fixture_set_up, fixture_tear_down);
	tcase_add_test(tcase, stays_in_step);
	tcase_add_test(tcase, walkers_keep_what_they_read);
	tcase_add_test(tcase, a_walker_meanwhile);
	tcase_add_test(tcase, exec_withdraws);
	tcase_add_test(tcase, cleared_behind_the_back);
	tcase_add_test(tcase, no_room_for_processes);
	tcase_add_test(tcase, no_room_for_mappings);
	suite_add_tcase(suite, tcase);
	return suite;
}
