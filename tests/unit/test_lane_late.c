/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Turns that wait for too long on a lane.
 */
#include "base/lane.h"
#include "tests/unit/suites.h"

enum { TURNS = 4 };

struct waiting {
	struct turn turn;
	bool ran, done;
};

static void run(struct job *job)
{
	((struct waiting *)job)->ran = true;
}

static void done(struct job *job)
{
	((struct waiting *)job)->done = true;
}

START_TEST(a_turn_that_waits_too_long_is_given_up)
{
	struct waiting waiting[TURNS] = {0};
	uv_loop_t loop;

	uv_loop_init(&loop);
	struct lane *lane = lane_new(&loop, WORK_render, 64);
	for (uint64_t i = 0; i < TURNS; i++) {
		waiting[i].turn = (struct turn){.job = {.run = run, .done = done}, .account = i};
		ck_assert_int_eq(lane_submit_turn(lane, &waiting[i].turn), 0);
		ck_assert_uint_gt(waiting[i].turn.queued_mono_ns, 0);
		waiting[i].turn.queued_mono_ns -= i < 3 ? LANE_PATIENCE_NS : LANE_PATIENCE_NS / 2;
	}
	/* The first one runs already. Root's wait for as long as it takes. */
	waiting[1].turn.account = 0;
	uv_run(&loop, UV_RUN_DEFAULT);
	for (int i = 0; i < TURNS; i++) {
		ck_assert(waiting[i].done);
		ck_assert_int_eq(waiting[i].ran, i != 2);
	}
	ck_assert_uint_eq(lane_length(lane), 0);
	lane_free(lane);
	ck_assert_int_eq(uv_loop_close(&loop), 0);
}
END_TEST

Suite *lane_late_suite(void)
{
	Suite *suite = suite_create("lane_late");
	TCase *tests = tcase_create("lane_late");

	tcase_add_test(tests, a_turn_that_waits_too_long_is_given_up);
	suite_add_tcase(suite, tests);
	return suite;
}
