/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reading the memory of all processes: this one, and children that start, grow and end.
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
	/* Otherwise the compiler drops the memset(), because the memory is never read. */
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

static const struct memory_reading *read_at(struct memory_reader *reader, uint64_t ms, pid_t pid)
{
	struct memory_readings readings;

	ck_assert_int_eq(memory_reader_read(reader, ms, &readings), 0);
	return find(&readings, pid);
}

static pid_t start_resting(void)
{
	pid_t child = fork();

	if (!child)
		for (;;)
			pause();
	return child;
}

static void end(pid_t child)
{
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

START_TEST(a_process_at_rest_stays_and_one_that_ends_goes)
{
	_cleanup_(memory_reader_freep) struct memory_reader *reader = memory_reader_new();
	const struct memory_reading *reading;
	pid_t child = start_resting();

	for (uint64_t ms = 1000; ms < 20000; ms += 1000) {
		reading = read_at(reader, ms, child);
		ck_assert_ptr_nonnull(reading);
		ck_assert(reading->figures.values[MEMORY_rss_anon] != MEMORY_UNKNOWN);
	}
	end(child);
	memory_reader_note(reader, (uint32_t)child, true);
	ck_assert_ptr_null(read_at(reader, 20000, child));
}
END_TEST

/* Reads all processes each second for a minute. Returns how often the child was read, and the
 * longest time between two readings of it. */
static unsigned int rests(struct memory_reader *reader, pid_t child, uint64_t *ret_longest_ms)
{
	uint64_t last_ms = 1000;
	unsigned int times = 0;

	*ret_longest_ms = 0;
	for (uint64_t ms = 1000; ms <= 120000; ms += 1000) {
		const struct memory_reading *reading = read_at(reader, ms, child);

		ck_assert_ptr_nonnull(reading);
		if (reading->read_ms - last_ms > *ret_longest_ms)
			*ret_longest_ms = reading->read_ms - last_ms;
		times += reading->read_ms == ms;
		last_ms = reading->read_ms;
	}
	return times;
}

START_TEST(one_at_rest_is_read_now_and_then)
{
	_cleanup_(memory_reader_freep) struct memory_reader *reader = memory_reader_new();
	pid_t child = start_resting();
	uint64_t longest_ms;

	memory_reader_growth_noted(reader, true);
	ck_assert_uint_lt(rests(reader, child, &longest_ms), 25);
	ck_assert_uint_le(longest_ms, MEMORY_REST_MS);
	ck_assert_uint_gt(longest_ms, MEMORY_LOOK_MS);
	memory_reader_note(reader, (uint32_t)child, false);
	ck_assert_uint_eq(read_at(reader, 121000, child)->read_ms, 121000);
	ck_assert_uint_eq(read_at(reader, 121500, child)->read_ms, 121000);
	memory_reader_note_all(reader);
	ck_assert_uint_eq(read_at(reader, 121600, child)->read_ms, 121600);
	end(child);
}
END_TEST

START_TEST(who_may_grow_unnoticed_rests_for_a_short_time)
{
	_cleanup_(memory_reader_freep) struct memory_reader *reader = memory_reader_new();
	pid_t child = start_resting();
	uint64_t longest_ms;

	ck_assert_uint_gt(rests(reader, child, &longest_ms), 25);
	ck_assert_uint_le(longest_ms, MEMORY_LOOK_MS);
	end(child);
}
END_TEST

START_TEST(who_begins_is_noted_or_found_later)
{
	_cleanup_(memory_reader_freep) struct memory_reader *reader = memory_reader_new();
	pid_t noted, found;

	ck_assert_ptr_nonnull(read_at(reader, 1000, getpid()));
	noted = start_resting();
	found = start_resting();
	memory_reader_note(reader, (uint32_t)noted, false);
	memory_reader_note(reader, (uint32_t)noted, false);
	ck_assert_uint_eq(read_at(reader, 2000, noted)->read_ms, 2000);
	ck_assert_ptr_nonnull(read_at(reader, 31000, found));
	end(noted);
	end(found);
	ck_assert_ptr_null(read_at(reader, 61000, noted));
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
	tcase_add_test(tests, one_at_rest_is_read_now_and_then);
	tcase_add_test(tests, who_may_grow_unnoticed_rests_for_a_short_time);
	tcase_add_test(tests, who_begins_is_noted_or_found_later);
	tcase_add_test(tests, reads_pss);
	suite_add_tcase(suite, tests);
	return suite;
}
