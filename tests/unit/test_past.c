/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct past: which of the profiles in a directory a time range gets, and what is refused.
 */
#include "past/past.h"

#include "base/clock.h"
#include "past/packed.h"
#include "past/profile_files.h"
#include "profile/builder.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ALICE = 1000, MINUTE = 60 };

/* Seconds since the epoch at which minute 0 begins. */
static const uint64_t epoch = 1795812360;

static struct {
	uv_loop_t loop;
	struct utsname host;
	struct past past;
	char place[64];
	int done, err;
} all;

static uint64_t at_ns(double minute)
{
	return epoch * NSEC_PER_SEC + (uint64_t)(minute * MINUTE * (double)NSEC_PER_SEC);
}

static void set_up(void)
{
	memset(&all, 0, sizeof(all));
	uv_loop_init(&all.loop);
	snprintf(all.host.nodename, sizeof(all.host.nodename), "some-host");
	snprintf(all.place, sizeof(all.place), "/tmp/profd-past-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(all.place));
	all.past = (struct past){.lane = lane_new(&all.loop, WORK_export, 1 + PAST_ASKS),
	                         .place = all.place,
	                         .host = &all.host};
}

static void tear_down(void)
{
	char command[128];

	lane_stop(all.past.lane);
	uv_run(&all.loop, UV_RUN_DEFAULT);
	lane_free(all.past.lane);
	uv_loop_close(&all.loop);
	snprintf(command, sizeof(command), "rm -rf %s", all.place);
	ck_assert_int_eq(system(command), 0);
}

static struct profile *minute_of(uint32_t minute, const char *type, char fill, size_t fill_bytes)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	_cleanup_free_ char *name = calloc(1, fill_bytes + 1);
	struct task task = {.pid = minute + 1};
	struct profile *profile;

	memset(name, fill, fill_bytes);
	task.comm = builder_text(builder, name);
	builder_value_type(builder, type, "count");
	builder_time(builder, 1, at_ns(minute), MINUTE * NSEC_PER_SEC);
	builder_sample(builder, 0, builder_task(builder, &task), (uint64_t[PROFILE_VALUES]){1});
	ck_assert_int_eq(builder_seal(builder, &profile), 0);
	return profile;
}

/* With a name of `fill_bytes`. */
static void put_filled(uint32_t minute, const char *kind, const char *type, char fill,
                       size_t fill_bytes)
{
	_cleanup_(profile_unrefp) struct profile *profile =
		minute_of(minute, type, fill, fill_bytes);
	_cleanup_(buf_release) struct buf bytes = BUF_INIT;
	struct profile_file file = {.host = all.host.nodename,
	                            .kind = kind,
	                            .suffix = encoder_past.suffix,
	                            .start_unix_ns = at_ns(minute)};

	ck_assert_int_eq(encoder_past.encode(profile, &(struct encode_options){0}, &bytes), 0);
	file.bytes = bytes.data;
	file.len = bytes.len;
	ck_assert_int_eq(profile_files_put(all.place, 1 << 30, &file), 0);
}

static void put(uint32_t minute, const char *kind, const char *type)
{
	put_filled(minute, kind, type, 0, 0);
}

static void put_minutes(uint32_t count)
{
	for (uint32_t minute = 0; minute < count; minute++)
		put(minute, "cpu", "samples");
	put(1, "rss", "samples");
}

static void on_done(struct past_ask *ask, int err)
{
	(void)ask;
	all.done++;
	all.err = err;
}

static struct past_ask asking(double from, double to, uint64_t account)
{
	return (struct past_ask){.kind = "cpu",
	                         .from_unix_ns = at_ns(from),
	                         .to_unix_ns = at_ns(to),
	                         .before_unix_ns = UINT64_MAX,
	                         .account = account,
	                         .done = on_done};
}

static int read_all(struct past_ask *ask)
{
	all.done = 0;
	ck_assert_int_eq(past_ask(&all.past, ask), 0);
	ck_assert_int_eq(all.done, 0);
	uv_run(&all.loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(all.done, 1);
	return all.err;
}

static void check_minutes(const struct past_ask *ask, uint32_t first, uint32_t count)
{
	ck_assert_uint_eq(ask->slices.count, count);
	for (uint32_t i = 0; i < count; i++)
		ck_assert_uint_eq(ask->slices.profiles[i]->tasks[1].pid, first + i + 1);
}

static const struct {
	double from, to, before; /* minutes */
	uint32_t first, count;
} ranges[] = {
	{0, 4, 9, 0, 4},   {-9, 9, 9, 0, 4},  {1, 3, 9, 1, 2},     {1.4, 3, 9, 1, 2},
	{1.6, 3, 9, 2, 1}, {1, 2.6, 9, 1, 2}, {1.7, 1.9, 9, 1, 1}, {1.9, 2.1, 9, 1, 2},
	{-9, -1, 9, 0, 0}, {4, 9, 9, 0, 0},   {0, 4, 2.5, 0, 3},   {0, 4, 2, 0, 2},
	{0, 4, -1, 0, 0},
};

START_TEST(a_range_gets_what_is_half_in_it)
{
	struct past_ask ask = asking(ranges[_i].from, ranges[_i].to, 0);

	put_minutes(4);
	ask.before_unix_ns = at_ns(ranges[_i].before);
	ck_assert_int_eq(read_all(&ask), 0);
	check_minutes(&ask, ranges[_i].first, ranges[_i].count);
	ck_assert_uint_eq(ask.oldest_unix_ns, at_ns(0));
	ck_assert_uint_eq(ask.unreadable, 0);
	past_release(&ask);
	past_release(&ask);
}
END_TEST

START_TEST(a_directory_that_is_not_there_is_empty)
{
	struct past_ask ask = asking(0, 4, 0);

	all.past.place = "/nonexistent/profd";
	ck_assert_int_eq(read_all(&ask), 0);
	ck_assert_uint_eq(ask.slices.count, 0);
	ck_assert_uint_eq(ask.oldest_unix_ns, 0);
	past_release(&ask);
}
END_TEST

/* All samples remain; their times do not. */
START_TEST(many_are_merged)
{
	struct past_ask ask = asking(0, 9, 0);

	for (uint32_t minute = 0; minute < 9; minute++)
		put_filled(minute, "cpu", "samples", 'a', MAX_PACKED_BYTES / 2);
	ck_assert_int_eq(read_all(&ask), 0);
	uint64_t samples = 0;
	for (size_t i = 0; i < ask.slices.count; i++)
		samples += ask.slices.profiles[i]->sample_count - 1;
	ck_assert_uint_eq(samples, 9);
	past_release(&ask);
}
END_TEST

START_TEST(too_many_are_refused)
{
	struct past_ask ask = asking(0, 20, 0);

	for (uint32_t minute = 0; minute < 20; minute++)
		put_filled(minute, "cpu", "samples", (char)('a' + minute), MAX_PACKED_BYTES / 4);
	ck_assert_int_eq(read_all(&ask), -EFBIG);
	past_release(&ask);
}
END_TEST

/* A single file is never too much, and what would be is not written. */
START_TEST(one_that_is_written_can_be_read)
{
	struct past_ask ask = asking(0, 1, 0);
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	_cleanup_(profile_unrefp) struct profile *large = NULL;
	_cleanup_(buf_release) struct buf bytes = BUF_INIT;

	for (uint32_t tid = 0; tid <= MAX_PAST_BYTES / sizeof(struct task); tid++)
		builder_task(builder, &(struct task){.tid = tid});
	ck_assert_int_eq(builder_seal(builder, &large), 0);
	ck_assert_int_eq(encoder_past.encode(large, &(struct encode_options){0}, &bytes), -EFBIG);
	put_filled(0, "cpu", "samples", 'a', MAX_PACKED_BYTES - 1000);
	ck_assert_int_eq(read_all(&ask), 0);
	check_minutes(&ask, 0, 1);
	past_release(&ask);
}
END_TEST

START_TEST(what_cannot_be_read_is_counted)
{
	struct past_ask ask = asking(0, 4, 0);
	char command[256];

	put_minutes(4);
	snprintf(command, sizeof(command),
	         "cd %s && truncate -s 20 *-cpu-*T204600* && chown 65534 *-cpu-*T204700*",
	         all.place);
	ck_assert_int_eq(system(command), 0);
	ck_assert_int_eq(read_all(&ask), 0);
	/* Only root can give files away. */
	check_minutes(&ask, geteuid() ? 1 : 2, geteuid() ? 3 : 2);
	ck_assert_uint_eq(ask.unreadable, geteuid() ? 1 : 2);
	ck_assert_uint_eq(all.past.unreadable, ask.unreadable);
	past_release(&ask);
}
END_TEST

START_TEST(other_values_are_left_out)
{
	struct past_ask ask = asking(0, 3, 0);

	put(0, "cpu", "samples");
	put(1, "cpu", "ticks");
	put(2, "cpu", "ticks");
	ck_assert_int_eq(read_all(&ask), 0);
	check_minutes(&ask, 1, 2);
	ck_assert_uint_eq(ask.unreadable, 1);
	past_release(&ask);
}
END_TEST

START_TEST(an_account_has_half_of_the_questions)
{
	struct past_ask asks[PAST_ASKS + 1];

	put_minutes(4);
	for (size_t i = 0; i <= PAST_ASKS; i++)
		asks[i] = asking(0, 1, i < PAST_ASKS / 2 + 1 ? ALICE : 0);
	for (size_t i = 0; i < PAST_ASKS / 2; i++)
		ck_assert_int_eq(past_ask(&all.past, &asks[i]), 0);
	ck_assert_int_eq(past_ask(&all.past, &asks[PAST_ASKS / 2]), -EBUSY);
	past_release(&asks[PAST_ASKS / 2]);
	uv_run(&all.loop, UV_RUN_DEFAULT);
	/* Answered, but not released. */
	ck_assert_int_eq(all.done, PAST_ASKS / 2);
	ck_assert_int_eq(past_ask(&all.past, &asks[PAST_ASKS / 2]), -EBUSY);
	for (size_t i = PAST_ASKS / 2 + 1; i <= PAST_ASKS; i++)
		ck_assert_int_eq(past_ask(&all.past, &asks[i]), 0);
	past_release(&asks[0]);
	ck_assert_int_eq(past_ask(&all.past, &asks[0]), 0);
	uv_run(&all.loop, UV_RUN_DEFAULT);
	for (size_t i = 0; i <= PAST_ASKS; i++)
		past_release(&asks[i]);
}
END_TEST

START_TEST(one_that_is_given_up_is_not_answered)
{
	struct past_ask ask = asking(0, 4, ALICE);

	put_minutes(4);
	for (int i = 0; i < PAST_ASKS; i++) {
		ck_assert_int_eq(past_ask(&all.past, &ask), 0);
		past_release(&ask);
		uv_run(&all.loop, UV_RUN_DEFAULT);
	}
	ck_assert_int_eq(all.done, 0);
	ck_assert_int_eq(read_all(&ask), 0);
	past_release(&ask);
}
END_TEST

Suite *past_suite(void)
{
	Suite *suite = suite_create("past");
	TCase *tests = tcase_create("past");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, a_range_gets_what_is_half_in_it, 0,
	                    sizeof(ranges) / sizeof(ranges[0]));
	tcase_add_test(tests, a_directory_that_is_not_there_is_empty);
	tcase_add_test(tests, many_are_merged);
	tcase_add_test(tests, too_many_are_refused);
	tcase_add_test(tests, one_that_is_written_can_be_read);
	tcase_add_test(tests, what_cannot_be_read_is_counted);
	tcase_add_test(tests, other_values_are_left_out);
	tcase_add_test(tests, an_account_has_half_of_the_questions);
	tcase_add_test(tests, one_that_is_given_up_is_not_answered);
	suite_add_tcase(suite, tests);
	return suite;
}
