/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Whether the processes that a request names are known: to the process table, to /proc, or to the
 * recorded and remembered profiles. Each source is searched once for all of them.
 */
#include "tests/unit/suites.h"

#include "api/pid_check.h"
#include "base/clock.h"
#include "profile/history.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* None of these processes runs: the kernel does not assign such pids. */
enum { RECORDED = MAX_TASK_ID - 1, REMEMBERED = MAX_TASK_ID - 2, TABLED = MAX_TASK_ID - 3 };
enum { NOBODY = MAX_TASK_ID, CHILD = 4000 };

START_TEST(each_is_in_the_list_once)
{
	struct few_pids few = {0};

	for (uint32_t pid = 1; pid <= 2 * MAX_QUERY_VALUES; pid++) {
		few_pids_add(&few, pid);
		few_pids_add(&few, 1);
	}
	ck_assert_uint_eq(few.count, MAX_QUERY_VALUES);
	/* Another pid with the same bit. */
	few_pids_pass(&few, 2 + FEW_PIDS_BITS);
	ck_assert_uint_eq(few.count, MAX_QUERY_VALUES);
	few_pids_pass(&few, 2);
	few_pids_pass(&few, 2);
	ck_assert_uint_eq(few.count, MAX_QUERY_VALUES - 1);
	ck_assert(few.pids[0] == 1 && few.pids[1] == 3);
}
END_TEST

struct fixture {
	uv_loop_t loop;
	struct store *store;
	struct procs *procs;
	struct service service;
	struct pid_check check;
	int calls, err;
};

static struct profile *slice(uint32_t pid)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	struct task task = {.pid = pid, .tid = pid};
	struct profile *profile = NULL;

	builder_sample(builder, 0, builder_task(builder, &task), (uint64_t[PROFILE_VALUES]){1, 1});
	ck_assert_int_eq(builder_seal(builder, &profile), 0);
	profile->start_mono_ns = NSEC_PER_SEC;
	profile->duration_ns = NSEC_PER_SEC;
	return profile;
}

static void set_up(struct fixture *fixture)
{
	static const struct recorder_limits limits = {.window_ns = 10 * NSEC_PER_SEC,
	                                              .keep_ns = 600 * NSEC_PER_SEC,
	                                              .max_bytes = 1 << 20};
	struct profile *slices[] = {slice(RECORDED)};

	*fixture = (struct fixture){.store = store_new(16)};
	ck_assert_int_eq(uv_loop_init(&fixture->loop), 0);
	fixture->procs = procs_new(fixture->store);
	procs_fork(fixture->procs, 1, REMEMBERED, 1);
	procs_fork(fixture->procs, REMEMBERED, CHILD, 1);
	procs_exit(fixture->procs, REMEMBERED, REMEMBERED, 2);
	procs_expire(fixture->procs, 3);
	procs_fork(fixture->procs, 1, TABLED, 4);
	fixture->service.procs = fixture->procs;
	fixture->service.history = history_new(&limits, (const uint32_t[]){1}, 1, 1);
	fixture->service.render = lane_new(&fixture->loop, WORK_render, 2);
	ck_assert_int_eq(history_add(fixture->service.history, slices), 0);
}

static void tear_down(struct fixture *fixture)
{
	lane_stop(fixture->service.render);
	uv_run(&fixture->loop, UV_RUN_DEFAULT);
	lane_free(fixture->service.render);
	history_free(fixture->service.history);
	procs_free(fixture->procs);
	store_free(fixture->store);
	ck_assert_int_eq(uv_loop_close(&fixture->loop), 0);
}

static void on_checked(struct pid_check *check, int err)
{
	struct fixture *fixture =
		(struct fixture *)((char *)check - offsetof(struct fixture, check));

	fixture->calls++;
	fixture->err = err;
}

/* Returns the number of answers that came without the lane; `pids` ends with 0. */
static int ask(struct fixture *fixture, const uint32_t *pids)
{
	struct selection selection = {0};
	int at_once;

	for (; *pids; pids++)
		selection.pids[selection.pid_count++] = *pids;
	fixture->calls = 0;
	fixture->check =
		(struct pid_check){.service = &fixture->service, .account = 1, .done = on_checked};
	pid_check_start(&fixture->check, &selection, KIND_cpu);
	at_once = fixture->calls;
	uv_run(&fixture->loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(fixture->calls, 1);
	return at_once;
}

START_TEST(who_is_known_need_not_wait)
{
	struct fixture fixture;
	uint32_t self = (uint32_t)getpid();

	set_up(&fixture);
	ck_assert_int_eq(ask(&fixture, (const uint32_t[]){0}), 1);
	ck_assert_int_eq(fixture.err, 0);
	ck_assert_int_eq(ask(&fixture, (const uint32_t[]){TABLED, self, 0}), 1);
	ck_assert_int_eq(fixture.err, 0);
	tear_down(&fixture);
}
END_TEST

START_TEST(the_lane_looks_for_the_rest)
{
	struct fixture fixture;
	uint32_t self = (uint32_t)getpid();

	set_up(&fixture);
	ck_assert_int_eq(ask(&fixture, (const uint32_t[]){RECORDED, REMEMBERED, self, 1, 0}), 0);
	ck_assert_int_eq(fixture.err, 0);
	/* The error names the first process that is not known. */
	ck_assert_int_eq(ask(&fixture, (const uint32_t[]){RECORDED, NOBODY, NOBODY, NOBODY - 4, 0}),
	                 0);
	ck_assert_int_eq(fixture.err, -EINVAL);
	ck_assert_uint_eq(fixture.check.refusal.status, 404);
	ck_assert_str_eq(
		fixture.check.refusal.text,
		"no process 4194304 is running or recorded; GET /processes lists the running ones");
	tear_down(&fixture);
}
END_TEST

START_TEST(a_full_lane_refuses)
{
	struct fixture fixture;

	set_up(&fixture);
	lane_stop(fixture.service.render);
	ck_assert_int_eq(ask(&fixture, (const uint32_t[]){NOBODY, 0}), 1);
	ck_assert_int_eq(fixture.err, -EAGAIN);
	ck_assert_ptr_null(fixture.check.slices.profiles);
	tear_down(&fixture);
}
END_TEST

Suite *pid_check_suite(void)
{
	Suite *suite = suite_create("pid_check");
	TCase *tcase = tcase_create("pid_check");

	tcase_add_test(tcase, each_is_in_the_list_once);
	tcase_add_test(tcase, who_is_known_need_not_wait);
	tcase_add_test(tcase, the_lane_looks_for_the_rest);
	tcase_add_test(tcase, a_full_lane_refuses);
	suite_add_tcase(suite, tcase);
	return suite;
}
