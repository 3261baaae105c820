/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reading the memory of all processes: this one, and children that come, grow and go.
 */
#include "tests/unit/suites.h"

#include "memory/reader.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GROWTH = 8 << 20 };

static const struct memory_reading *find(const struct memory_readings *readings, pid_t pid)
{
	for (size_t i = 0; i < readings->process_count; i++)
		if (readings->processes[i].pid == (uint32_t)pid)
			return &readings->processes[i];
	return NULL;
}

START_TEST(a_process_that_grows_is_seen_to)
{
	_cleanup_(memory_reader_freep) struct memory_reader *reader = memory_reader_new();
	const struct memory_reading *reading;
	struct memory_readings readings;
	_cleanup_free_ char *grown = NULL;
	uint64_t before;

	ck_assert_int_eq(memory_reader_read(reader, 1000, &readings), 0);
	reading = find(&readings, getpid());
	ck_assert_ptr_nonnull(reading);
	ck_assert_str_eq(reading->owner.comm, "unit");
	ck_assert(!reading->owner.kernel);
	ck_assert_uint_gt(reading->owner.start_ticks, 0);
	ck_assert_uint_gt(readings.host.total_bytes, readings.host.available_bytes);
	before = reading->figures.values[MEMORY_rss_anon];
	grown = malloc(GROWTH);
	ck_assert_ptr_nonnull(grown);
	memset(grown, 1, GROWTH);
	/* Or the compiler leaves out what is never read. */
	__asm__ volatile("" : : "r"(grown) : "memory");
	ck_assert_int_eq(memory_reader_read(reader, 2000, &readings), 0);
	reading = find(&readings, getpid());
	ck_assert_uint_ge(reading->figures.values[MEMORY_rss_anon], before + GROWTH / 8 * 7);
	for (size_t i = 1; i < readings.process_count; i++)
		ck_assert_uint_lt(readings.processes[i - 1].pid, readings.processes[i].pid);
	for (size_t i = 0; i < readings.process_count; i++)
		ck_assert(readings.processes[i].group == MEMORY_NO_GROUP ||
		          readings.processes[i].group < readings.group_count);
}
END_TEST

START_TEST(a_process_at_rest_stays_and_one_that_ends_goes)
{
	_cleanup_(memory_reader_freep) struct memory_reader *reader = memory_reader_new();
	struct memory_readings readings;
	pid_t child = fork();

	if (!child)
		for (;;)
			pause();
	for (uint64_t ms = 1000; ms < 20000; ms += 1000) {
		ck_assert_int_eq(memory_reader_read(reader, ms, &readings), 0);
		ck_assert_ptr_nonnull(find(&readings, child));
		ck_assert(find(&readings, child)->figures.values[MEMORY_rss_anon] !=
		          MEMORY_UNKNOWN);
	}
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	ck_assert_int_eq(memory_reader_read(reader, 20000, &readings), 0);
	ck_assert_ptr_null(find(&readings, child));
}
END_TEST

START_TEST(reads_pss)
{
	uint64_t bytes;

	ck_assert_int_eq(memory_read_pss((uint32_t)getpid(), &bytes), 0);
	ck_assert_uint_gt(bytes, 64 * 1024);
	ck_assert_int_ne(memory_read_pss(4194304, &bytes), 0);
}
END_TEST

Suite *memory_reader_suite(void)
{
	Suite *suite = suite_create("memory_reader");
	TCase *tests = tcase_create("all");

	tcase_add_test(tests, a_process_that_grows_is_seen_to);
	tcase_add_test(tests, a_process_at_rest_stays_and_one_that_ends_goes);
	tcase_add_test(tests, reads_pss);
	suite_add_tcase(suite, tests);
	return suite;
}
