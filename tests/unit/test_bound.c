/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a profile of all time is bound by: how samples become activities, which threads are left
 * out, the verdict, its places, and both forms of the report.
 */
#include "tests/unit/suites.h"

#include "encode/bound.h"
#include "encode/report.h"
#include "profile/builder.h"
#include "profile/select.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MS 1000000ULL

static struct builder *begin(void)
{
	struct builder *builder = builder_new();

	ck_assert_ptr_nonnull(builder);
	select_wall_types(builder);
	builder_time(builder, 1, 1000000000, 10000 * MS);
	return builder;
}

struct frame {
	enum mapping_kind kind;
	const char *name, *file;
};

static uint32_t push(struct builder *builder, uint32_t caller, const struct frame *frame)
{
	struct mapping mapping = {
		.kind = frame->kind,
		.path = builder_text(builder, frame->kind == MAPPING_KERNEL ? "[kernel]" : "/p"),
	};
	struct function function = {
		.name = builder_text(builder, frame->name),
		.filename = builder_text(builder, frame->file ?: ""),
	};
	uint32_t name = builder_function(builder, &function);
	uint32_t location =
		builder_location(builder, builder_mapping(builder, &mapping), 0x1000 + name);

	if (!builder_view(builder)->locations[location].line_count)
		builder_line(builder, location, name, 1);
	return builder_node(builder, caller, location);
}

struct what {
	uint32_t tid;
	const char *state, *wait, *gil;
};

/* The frames are a root first, and end with one without a name. */
static void add(struct builder *builder, struct what what, const struct frame *frames,
                uint64_t count, uint64_t ns)
{
	struct task task = {
		.pid = 1,
		.tid = what.tid,
		.state = builder_text(builder, what.state),
		.wait = builder_text(builder, what.wait ?: ""),
		.gil = builder_text(builder, what.gil ?: ""),
	};
	uint32_t node = 0;

	for (size_t i = 0; frames[i].name; i++)
		node = push(builder, node, &frames[i]);
	builder_sample(builder, node, builder_task(builder, &task),
	               (uint64_t[PROFILE_VALUES]){count, ns});
}

static struct profile *seal(struct builder *builder)
{
	struct profile *profile;

	ck_assert_int_eq(builder_seal(builder, &profile), 0);
	builder_free(builder);
	return profile;
}

#define FRAMES(...) ((const struct frame[]){__VA_ARGS__, {0}})
#define USER(text)                     \
	{                              \
		MAPPING_FILE, text, "" \
	}
#define KERNEL(text)                     \
	{                                \
		MAPPING_KERNEL, text, "" \
	}
#define PYTHON(text, path)                      \
	{                                       \
		MAPPING_INTERPRETED, text, path \
	}

static enum activity one(struct what what, const struct frame *frames)
{
	_cleanup_(activities_release) struct activities activities = {0};
	_cleanup_(profile_unrefp) struct profile *profile = NULL;
	struct builder *builder = begin();

	add(builder, what, frames, 1, MS);
	profile = seal(builder);
	ck_assert_int_eq(activities_find(profile, &activities), 0);
	return activity_of(&activities, profile, &profile->samples[1]);
}

#define SLEEP(call) ((struct what){1, "sleep", call, ""})
#define RUNNING     ((struct what){1, "running", "", ""})

START_TEST(tells_running_threads)
{
	ck_assert_int_eq(one(RUNNING, FRAMES(USER("main"))), ACTIVITY_user);
	ck_assert_int_eq(one(RUNNING, FRAMES(USER("main"), KERNEL("vfs_read"))), ACTIVITY_kernel);
	ck_assert_int_eq(one(RUNNING, FRAMES(USER("main"), KERNEL("asm_exc_page_fault"),
	                                     KERNEL("clear_page_erms"))),
	                 ACTIVITY_fault);
	ck_assert_int_eq(one(RUNNING, FRAMES(USER("main"), KERNEL("tcp_sendmsg"))),
	                 ACTIVITY_network_code);
	/* A user's function cannot pass for one of the kernel. */
	ck_assert_int_eq(one(RUNNING, FRAMES(USER("tcp_sendmsg"), KERNEL("vfs_read"))),
	                 ACTIVITY_kernel);
	ck_assert_int_eq(one(RUNNING, FRAMES(USER("main"), USER("cuStreamSynchronize"))),
	                 ACTIVITY_gpu);
	ck_assert_int_eq(one((struct what){1, "runnable", "", ""}, FRAMES(USER("main"))),
	                 ACTIVITY_runnable);
}
END_TEST

START_TEST(tells_waits)
{
	ck_assert_int_eq(one(SLEEP("futex"), FRAMES(USER("pthread_mutex_lock"))), ACTIVITY_lock);
	ck_assert_int_eq(one((struct what){1, "sleep", "futex", "waiting"},
	                     FRAMES(USER("pthread_cond_timedwait"))),
	                 ACTIVITY_gil);
	ck_assert_int_eq(one(SLEEP("socket"), FRAMES(USER("recv"))), ACTIVITY_network);
	ck_assert_int_eq(one(SLEEP("read"), FRAMES(USER("read"), KERNEL("sock_read_iter"))),
	                 ACTIVITY_network);
	ck_assert_int_eq(one(SLEEP("read"), FRAMES(USER("read"), KERNEL("anon_pipe_read"))),
	                 ACTIVITY_process);
	ck_assert_int_eq(one(SLEEP("wait4"), FRAMES(USER("wait"))), ACTIVITY_process);
	ck_assert_int_eq(one(SLEEP("nanosleep"), FRAMES(USER("sleep"))), ACTIVITY_sleep);
	ck_assert_int_eq(one((struct what){1, "disk", "read", ""}, FRAMES(USER("pread"))),
	                 ACTIVITY_disk);
	ck_assert_int_eq(one((struct what){1, "disk", "other", ""},
	                     FRAMES(USER("mmap"), KERNEL("rwsem_down_write_slowpath"))),
	                 ACTIVITY_lock);
	ck_assert_int_eq(one((struct what){1, "unknown", "", ""}, FRAMES(USER("[unknown: x]"))),
	                 ACTIVITY_unknown);
}
END_TEST

START_TEST(tells_waiting_for_work)
{
	ck_assert_int_eq(one(SLEEP("poll"), FRAMES(USER("epoll_wait"))), ACTIVITY_work);
	ck_assert_int_eq(one(SLEEP("socket"), FRAMES(USER("accept4"))), ACTIVITY_work);
	ck_assert_int_eq(one(SLEEP("futex"), FRAMES(USER("worker"), USER("pthread_cond_wait"))),
	                 ACTIVITY_work);
	ck_assert_int_eq(
		one(SLEEP("futex"), FRAMES(USER("runtime.mstart"), USER("runtime.findRunnable"))),
		ACTIVITY_work);
	ck_assert_int_eq(one(SLEEP("futex"),
	                     FRAMES(PYTHON("Condition.wait", "/usr/lib/python3.11/threading.py"))),
	                 ACTIVITY_work);
	ck_assert_int_eq(one(SLEEP("futex"), FRAMES(PYTHON("Thread.join", "/x/threading.py"),
	                                            USER("PyThread_acquire_lock_timed"))),
	                 ACTIVITY_work);
	/* Somebody else's wait(). */
	ck_assert_int_eq(one(SLEEP("futex"), FRAMES(PYTHON("Lock.wait", "/home/locks.py"))),
	                 ACTIVITY_lock);
	/* CPython up to 3.10 sleeps by select(). */
	ck_assert_int_eq(one(SLEEP("poll"), FRAMES(USER("time_sleep"), USER("select"))),
	                 ACTIVITY_sleep);
}
END_TEST

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
	ck_assert_uint_eq(bound.work_ns, 2000 * MS);
	ck_assert_uint_eq(bound.cpu_ns, 9500 * MS);
	ck_assert_uint_eq(bound.ticks, 800);
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
	ck_assert_double_eq_tol(bound_gain(&bound, bound.kind_ns), 20.0 / 11, 1e-9);
	ck_assert(isinf(bound_gain(&bound, bound.total_ns)));
}
END_TEST

START_TEST(a_few_samples_are_not_judged)
{
	_cleanup_(bound_release) struct bound bound;
	struct builder *builder = begin();

	add(builder, RUNNING, in_main, BOUND_LEAST_TICKS - 1, 190 * MS);
	bound = find(builder);
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
	/* Half of the time is CPU time, of which each half has 9.8 points more or less. */
	ck_assert_double_eq_tol(bound_error(&bound, ACTIVITY_user), 0.049, 1e-6);
	ck_assert_double_eq_tol(bound_error(&bound, ACTIVITY_network), 0, 1e-9);
}
END_TEST

/* Kernel frames are left out, and other places of the same functions count together. */
START_TEST(places_are_by_function)
{
	_cleanup_(bound_release) struct bound bound;
	struct builder *builder = begin();

	add(builder, SLEEP("futex"), FRAMES(USER("main"), USER("f"), KERNEL("futex_wait")), 1,
	    300 * MS);
	add(builder, SLEEP("futex"), FRAMES(USER("main"), USER("f")), 1, 300 * MS);
	add(builder, SLEEP("futex"), FRAMES(USER("main"), USER("g")), 1, 400 * MS);
	add(builder, SLEEP("futex"), FRAMES(KERNEL("entry"), KERNEL("futex_wait")), 1, 100 * MS);
	bound = find(builder);
	ck_assert_int_eq(bound.kind, BOUND_lock);
	ck_assert_uint_eq(bound.places.count, 3);
	ck_assert_str_eq(bound.places.at[0].text, "f < main");
	ck_assert_uint_eq(bound.places.at[0].ns, 600 * MS);
	ck_assert_str_eq(bound.places.at[1].text, "g < main");
	ck_assert_str_eq(bound.places.at[2].text, "futex_wait < entry");
}
END_TEST

START_TEST(places_of_python_are_its_functions)
{
	_cleanup_(bound_release) struct bound bound;
	struct builder *builder = begin();

	add(builder, RUNNING,
	    FRAMES(USER("main"), USER("Py_Main"), PYTHON("<module>", "/a.py"), USER("call"),
	           PYTHON("f", "/a.py"), USER("PyNumber_Add"), USER("long_add")),
	    100, 1000 * MS);
	bound = find(builder);
	ck_assert_str_eq(bound.places.at[0].text, "long_add < f < <module>");
}
END_TEST

START_TEST(places_are_clean)
{
	_cleanup_(bound_release) struct bound bound;
	struct builder *builder = begin();

	add(builder, RUNNING, FRAMES(USER("main\n100 %"), USER("\x1b[31m\xff")), 100, 1000 * MS);
	bound = find(builder);
	ck_assert_str_eq(bound.places.at[0].text, " [31m\xef\xbf\xbd < main 100 %");
}
END_TEST

static struct profile *convoy(void)
{
	struct builder *builder = begin();

	add(builder, RUNNING, FRAMES(USER("main"), USER("h")), 400, 4000 * MS);
	add(builder, SLEEP("futex"), FRAMES(USER("main"), USER("h")), 70, 6000 * MS);
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
		"71 waits\n"
		"Working time: 10.0 s of 1 thread; left out: 0.0 s waiting for work, 1 idle "
		"thread\n"
		"\n"
		"   40.0 %          user code\n"
		"   60.0 %          waits for a lock\n"
		"\n"
		"Without a part of it, the work is at most so many times as fast:\n"
		"   60.0 %   2.50x  h < main\n");
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
	ck_assert_str_eq(stack, "h < main");
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
	ck_assert_int_eq(strncmp(buf_text(&text), "Bound by nothing: no thread", 27), 0);
	ck_assert_int_eq(encoder_report_json.encode(profile, &options, &json), 0);
	ck_assert_ptr_nonnull(strstr(buf_text(&json), "\"bound_by\": \"nothing\""));
}
END_TEST

Suite *bound_suite(void)
{
	Suite *suite = suite_create("bound");
	TCase *tcase = tcase_create("bound");

	tcase_add_test(tcase, tells_running_threads);
	tcase_add_test(tcase, tells_waits);
	tcase_add_test(tcase, tells_waiting_for_work);
	tcase_add_test(tcase, idle_threads_are_left_out);
	tcase_add_test(tcase, sleeping_limits_who_only_sleeps);
	tcase_add_test(tcase, who_waits_for_work_is_bound_by_nothing);
	tcase_add_test(tcase, turns_are_waits_for_each_other);
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
