/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a profile of all time is bound by: which threads are left out, the verdict, its places, and
 * both forms of the report.
 */
#include "tests/unit/suites.h"
#include "tests/unit/wall_profile.h"

#include "encode/bound.h"
#include "encode/report.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct frame *const in_main = FRAMES(USER("main"), USER("f"));

static struct bound find(struct builder *builder)
{
	_cleanup_(profile_unrefp) struct profile *profile = seal(builder);
	struct bound bound;

	ck_assert_int_eq(bound_find(profile, &bound), 0);
	return bound;
}

START_TEST(idle_threads_are_left_out)
{
	_cleanup_(bound_release) struct bound bound;
	struct builder *builder = begin();

	add(builder, RUNNING, in_main, 800, 8000 * MS);
	add(builder, SLEEP("poll"), in_main, 5, 2000 * MS);
	for (uint32_t tid = 2; tid < 5; tid++) {
		add(builder, (struct what){tid, "sleep", "nanosleep", ""}, in_main, 9, 9500 * MS);
		add(builder, (struct what){tid, "running", "", ""}, in_main, 5, 500 * MS);
	}
	bound = find(builder);
	ck_assert_int_eq(bound.kind, BOUND_cpu);
	ck_assert_uint_eq(bound.threads, 4);
	ck_assert_uint_eq(bound.idle_threads, 3);
	ck_assert_uint_eq(bound.idle_ns, 30000 * MS);
	ck_assert_uint_eq(bound.total_ns, 8000 * MS);
	ck_assert_uint_eq(bound.ns[ACTIVITY_work], 2000 * MS);
	ck_assert_uint_eq(bound.cpu_ns, 9500 * MS);
	ck_assert_uint_eq(bound.ticks, 800);
}
END_TEST

/* Each of them does little, and all of them much. */
START_TEST(a_pool_that_does_much_is_not_idle)
{
	_cleanup_(bound_release) struct bound bound;
	struct builder *builder = begin();

	for (uint32_t tid = 1; tid <= 100; tid++) {
		add(builder, (struct what){tid, "sleep", "poll", ""}, in_main, 9, 9200 * MS);
		add(builder, (struct what){tid, "running", "", ""}, in_main, 80, 800 * MS);
	}
	bound = find(builder);
	ck_assert_int_eq(bound.kind, BOUND_cpu);
	ck_assert_uint_eq(bound.idle_threads, 0);
	ck_assert_uint_eq(bound.total_ns, 80000 * MS);
}
END_TEST

/* A thread that waits all the time for nobody knows what is idle. */
START_TEST(parked_threads_limit_nothing)
{
	_cleanup_(bound_release) struct bound bound;
	struct builder *builder = begin();

	add(builder, RUNNING, in_main, 500, 5000 * MS);
	add(builder, SLEEP("poll"), in_main, 50, 5000 * MS);
	add(builder, (struct what){2, "sleep", "futex", ""}, in_main, 1, 10000 * MS);
	add(builder, (struct what){3, "sleep", "other", ""}, in_main, 1, 10000 * MS);
	bound = find(builder);
	ck_assert_int_eq(bound.kind, BOUND_cpu);
	ck_assert_uint_eq(bound.idle_threads, 2);
}
END_TEST

/* A shell waits for its child, whose time is what counts. */
START_TEST(waiting_for_a_child_in_the_profile_is_no_work)
{
	_cleanup_(bound_release) struct bound bound;
	struct builder *builder = begin();
	struct task child = {
		.pid = 2,
		.tid = 2,
		.parent = 1,
		.state = builder_text(builder, "running"),
	};

	add(builder, SLEEP("wait4"), in_main, 1, 10000 * MS);
	builder_sample(builder, push(builder, 0, &in_main[0]), builder_task(builder, &child),
	               (uint64_t[PROFILE_VALUES]){500, 5000 * MS});
	bound = find(builder);
	ck_assert_int_eq(bound.kind, BOUND_cpu);
	ck_assert_uint_eq(bound.total_ns, 5000 * MS);
}
END_TEST

START_TEST(what_is_not_known_is_no_verdict)
{
	_cleanup_(bound_release) struct bound bound;
	struct builder *builder = begin();

	add(builder, RUNNING, in_main, 400, 4000 * MS);
	add(builder, (struct what){1, "unknown", "", ""}, in_main, 0, 1000 * MS);
	bound = find(builder);
	ck_assert_int_eq(bound.kind, BOUND_cpu);
	ck_assert(!bound.is_unsure);
	ck_assert_uint_eq(bound.total_ns, 4000 * MS);
	bound_release(&bound);
	builder = begin();
	add(builder, RUNNING, in_main, 400, 4000 * MS);
	add(builder, (struct what){1, "unknown", "", ""}, in_main, 0, 3000 * MS);
	bound = find(builder);
	ck_assert(bound.is_unsure);
	ck_assert_uint_eq(bound.places.count, 0);
}
END_TEST

START_TEST(sleeping_limits_who_only_sleeps)
{
	_cleanup_(bound_release) struct bound bound;
	struct builder *builder = begin();

	add(builder, SLEEP("nanosleep"), in_main, 5, 9500 * MS);
	add(builder, RUNNING, in_main, 50, 500 * MS);
	bound = find(builder);
	ck_assert_int_eq(bound.kind, BOUND_sleep);
	ck_assert_uint_eq(bound.idle_threads, 0);
}
END_TEST

START_TEST(who_waits_for_work_is_bound_by_nothing)
{
	_cleanup_(bound_release) struct bound bound;
	struct builder *builder = begin();

	add(builder, SLEEP("poll"), in_main, 5, 9900 * MS);
	add(builder, RUNNING, in_main, 10, 100 * MS);
	bound = find(builder);
	ck_assert_int_eq(bound.kind, BOUND_nothing);
	ck_assert_uint_eq(bound.places.count, 0);
}
END_TEST

/* Two threads take turns, so each of them runs for as long as it waits. */
START_TEST(turns_are_waits_for_each_other)
{
	_cleanup_(bound_release) struct bound bound;
	struct builder *builder = begin();

	for (uint32_t tid = 1; tid < 3; tid++) {
		add(builder, (struct what){tid, "running", "", "held"}, in_main, 550, 5500 * MS);
		add(builder, (struct what){tid, "sleep", "futex", "waiting"}, in_main, 90,
		    4500 * MS);
	}
	bound = find(builder);
	ck_assert_int_eq(bound.kind, BOUND_gil);
	ck_assert_uint_eq(bound.kind_ns, 9000 * MS);
	ck_assert_uint_eq(bound.places.count, 1);
	ck_assert_double_eq_tol(bound.places.at[0].gain, 20.0 / 11, 1e-9);
}
END_TEST

/* What one thread does is a part of its own time, whatever others do beside it. */
START_TEST(gains_are_those_of_a_thread)
{
	_cleanup_(bound_release) struct bound bound;
	struct builder *builder = begin();

	add(builder, RUNNING, FRAMES(USER("main"), USER("hot")), 900, 9000 * MS);
	add(builder, RUNNING, FRAMES(USER("main"), USER("cold")), 100, 1000 * MS);
	add(builder, (struct what){2, "running", "", ""}, FRAMES(USER("beside")), 600, 6000 * MS);
	bound = find(builder);
	ck_assert_uint_eq(bound.places.count, 3);
	ck_assert_str_eq(bound.places.at[0].text, "hot < main");
	ck_assert_double_eq_tol(bound.places.at[0].gain, 10, 1e-9);
	ck_assert(isinf(bound.places.at[1].gain));
	ck_assert_double_eq_tol(bound.places.at[2].gain, 10.0 / 9, 1e-9);
}
END_TEST

START_TEST(a_few_samples_are_not_judged)
{
	_cleanup_(bound_release) struct bound bound;
	struct builder *builder = begin();

	add(builder, RUNNING, in_main, BOUND_LEAST_SAMPLES - 1, 1900 * MS);
	bound = find(builder);
	ck_assert(bound.is_unsure);
	bound_release(&bound);
	builder = begin();
	add(builder, RUNNING, FRAMES(USER("main"), KERNEL("tcp_sendmsg")), 1, 2000 * MS);
	add(builder, SLEEP("poll"), in_main, 50, 5 * MS);
	bound = find(builder);
	ck_assert_int_eq(bound.kind, BOUND_network);
	ck_assert(bound.is_unsure);
}
END_TEST

START_TEST(errors_are_those_of_samples)
{
	_cleanup_(bound_release) struct bound bound;
	struct builder *builder = begin();

	add(builder, RUNNING, in_main, 50, 500 * MS);
	add(builder, RUNNING, FRAMES(USER("main"), KERNEL("vfs_read")), 50, 500 * MS);
	add(builder, SLEEP("socket"), in_main, 3, 1000 * MS);
	bound = find(builder);
	/* Half of the time is CPU time, of which each half has 9.6 points more or less. */
	ck_assert_double_eq_tol(bound_error(&bound, ACTIVITY_user), 0.048, 1e-3);
	ck_assert_double_eq_tol(bound_error(&bound, ACTIVITY_network), 0, 1e-9);
}
END_TEST

/* Kernel frames are left out, and other places of the same functions count together. */
START_TEST(places_are_by_function)
{
	_cleanup_(bound_release) struct bound bound;
	struct builder *builder = begin();

	add(builder, SLEEP("socket"), FRAMES(USER("main"), USER("f"), KERNEL("sk_wait_data")), 10,
	    300 * MS);
	add(builder, SLEEP("socket"), FRAMES(USER("main"), USER("f")), 10, 300 * MS);
	add(builder, SLEEP("socket"), FRAMES(USER("main"), USER("g")), 10, 400 * MS);
	add(builder, SLEEP("socket"), FRAMES(KERNEL("entry"), KERNEL("sk_wait_data")), 10,
	    100 * MS);
	bound = find(builder);
	ck_assert_int_eq(bound.kind, BOUND_network);
	ck_assert_uint_eq(bound.places.count, 3);
	ck_assert_str_eq(bound.places.at[0].text, "f < main");
	ck_assert_uint_eq(bound.places.at[0].ns, 600 * MS);
	ck_assert_str_eq(bound.places.at[1].text, "g < main");
	ck_assert_str_eq(bound.places.at[2].text, "sk_wait_data < entry");
}
END_TEST

START_TEST(places_of_python_are_its_functions)
{
	_cleanup_(bound_release) struct bound bound;
	struct builder *builder = begin();

	add(builder, RUNNING,
	    FRAMES(USER("main"), USER("Py_Main"), PYTHON("<module>", "/a.py"), USER("call"),
	           PYTHON("f", "/a.py"), USER("PyNumber_Add"), USER("long_add")),
	    200, 2000 * MS);
	bound = find(builder);
	ck_assert_str_eq(bound.places.at[0].text, "long_add < f < <module>");
}
END_TEST

START_TEST(places_are_clean)
{
	_cleanup_(bound_release) struct bound bound;
	struct builder *builder = begin();

	add(builder, RUNNING, FRAMES(USER("main\n100 %"), USER("\x1b[31m\xff")), 200, 2000 * MS);
	bound = find(builder);
	ck_assert_str_eq(bound.places.at[0].text, " [31m\xef\xbf\xbd < main 100 %");
}
END_TEST

static struct profile *convoy(void)
{
	struct builder *builder = begin();

	add(builder, RUNNING, FRAMES(USER("main"), USER("h")), 400, 4000 * MS);
	add(builder, SLEEP("futex"), FRAMES(USER("main"), USER("h"), USER("pthread_mutex_lock")),
	    70, 6000 * MS);
	add(builder, (struct what){2, "sleep", "poll", ""}, in_main, 1, 10000 * MS);
	return seal(builder);
}

START_TEST(is_a_text)
{
	_cleanup_(profile_unrefp) struct profile *profile = convoy();
	_cleanup_(buf_release) struct buf out = BUF_INIT;
	struct encode_options options = {0};

	ck_assert_int_eq(encoder_report_text.encode(profile, &options, &out), 0);
	ck_assert_str_eq(
		buf_text(&out),
		"Bound by locks: other threads hold them, 60.0 % of the working time\n"
		"Time: 1970-01-01T00:00:01.000Z, 10.0 s; 0.40 CPUs in use; 400 samples of CPU "
		"time, "
		"70 waits\n"
		"Working time: 10.0 s of 1 thread; left out: 0.0 s waiting for work, 10.0 s of 1 "
		"idle thread\n"
		"\n"
		"   40.0 % +-0.3    user code\n"
		"   60.0 %          waits for a lock\n"
		"\n"
		"Where: its part, and the gain at most if that took no time\n"
		"   60.0 %   2.50x  pthread_mutex_lock < h < main\n");
}
END_TEST

START_TEST(is_json)
{
	_cleanup_(profile_unrefp) struct profile *profile = convoy();
	_cleanup_(buf_release) struct buf out = BUF_INIT;
	struct encode_options options = {0};
	const char *by, *stack;
	double share, speedup;
	int enough;
	json_t *root;

	ck_assert_int_eq(encoder_report_json.encode(profile, &options, &out), 0);
	root = json_loads(buf_text(&out), 0, NULL);
	ck_assert_ptr_nonnull(root);
	ck_assert_int_eq(json_unpack(root, "{s:s, s:F, s:b, s:[{s:s, s:F}]}", "bound_by", &by,
	                             "share", &share, "enough_samples", &enough, "places", "stack",
	                             &stack, "speedup", &speedup),
	                 0);
	ck_assert_str_eq(by, "lock");
	ck_assert(enough);
	ck_assert_str_eq(stack, "pthread_mutex_lock < h < main");
	ck_assert_double_eq_tol(share, 0.6, 1e-6);
	ck_assert_double_eq_tol(speedup, 2.5, 1e-6);
	json_decref(root);
}
END_TEST

START_TEST(nothing_at_all_is_said)
{
	_cleanup_(profile_unrefp) struct profile *profile = seal(begin());
	_cleanup_(buf_release) struct buf text = BUF_INIT, json = BUF_INIT;
	struct encode_options options = {0};

	ck_assert_int_eq(encoder_report_text.encode(profile, &options, &text), 0);
	ck_assert_int_eq(strncmp(buf_text(&text), "Nothing known: no thread", 24), 0);
	ck_assert_int_eq(encoder_report_json.encode(profile, &options, &json), 0);
	ck_assert_ptr_nonnull(strstr(buf_text(&json), "\"bound_by\": \"nothing\""));
}
END_TEST

Suite *bound_suite(void)
{
	Suite *suite = suite_create("bound");
	TCase *tcase = tcase_create("bound");

	tcase_add_test(tcase, idle_threads_are_left_out);
	tcase_add_test(tcase, a_pool_that_does_much_is_not_idle);
	tcase_add_test(tcase, parked_threads_limit_nothing);
	tcase_add_test(tcase, waiting_for_a_child_in_the_profile_is_no_work);
	tcase_add_test(tcase, what_is_not_known_is_no_verdict);
	tcase_add_test(tcase, sleeping_limits_who_only_sleeps);
	tcase_add_test(tcase, who_waits_for_work_is_bound_by_nothing);
	tcase_add_test(tcase, turns_are_waits_for_each_other);
	tcase_add_test(tcase, gains_are_those_of_a_thread);
	tcase_add_test(tcase, a_few_samples_are_not_judged);
	tcase_add_test(tcase, errors_are_those_of_samples);
	tcase_add_test(tcase, places_are_by_function);
	tcase_add_test(tcase, places_of_python_are_its_functions);
	tcase_add_test(tcase, places_are_clean);
	tcase_add_test(tcase, is_a_text);
	tcase_add_test(tcase, is_json);
	tcase_add_test(tcase, nothing_at_all_is_said);
	suite_add_tcase(suite, tcase);
	return suite;
}
