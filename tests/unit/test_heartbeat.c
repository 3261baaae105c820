/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * When halves are flipped, and which boundary each reader gets: never one before the moment that it
 * asked for. The kernel half is memory of this test, and is always quiet.
 */
#include "tests/unit/suites.h"

#include "base/clock.h"
#include "kernel/bpf.h"
#include "kernel/heartbeat.h"

#include "bpf/profd.skel.h"

#include <stdlib.h>
#include <string.h>

enum { READERS = 4, DRAINS = 64 };

struct reader {
	struct cut cut;
	uint64_t asked_ns, boundary_ns; /* boundary_ns 0: none yet */
	uint64_t then_ns;               /* asks for another one, this long after its first */
	size_t drains;                  /* drains that there had been when it got the boundary */
};

static struct {
	uv_loop_t loop;
	struct profd_bpf skeleton;
	struct profd_bpf__bss bss;
	bool quiet[1];
	struct bpf bpf;
	struct heartbeat heartbeat;
	struct reader readers[READERS];
	uint64_t ends[DRAINS];
	size_t drains, eves;
	uint64_t drain_takes_ns;
} all;

static void eve(void *ctx)
{
	(void)ctx;
	all.eves++;
}

static void drain(void *ctx)
{
	uint64_t until = clock_mono_ns() + all.drain_takes_ns;

	(void)ctx;
	ck_assert_uint_lt(all.drains, DRAINS);
	/* Spans follow each other without gaps. */
	if (all.drains)
		ck_assert_uint_eq(all.heartbeat.start_mono_ns, all.ends[all.drains - 1]);
	ck_assert_uint_gt(all.heartbeat.end_mono_ns, all.heartbeat.start_mono_ns);
	all.ends[all.drains++] = all.heartbeat.end_mono_ns;
	/* Each flip has one, before its half is drained. */
	ck_assert_uint_eq(all.eves, all.drains);
	while (clock_mono_ns() < until)
		;
}

static void ask(struct reader *reader, uint64_t at_mono_ns);

static void told(struct cut *cut, uint64_t boundary_mono_ns)
{
	struct reader *reader = (struct reader *)cut;
	uint64_t then_ns = reader->then_ns;

	reader->boundary_ns = boundary_mono_ns;
	reader->drains = all.drains;
	reader->then_ns = 0;
	if (then_ns)
		ask(reader, boundary_mono_ns + then_ns);
}

static void ask(struct reader *reader, uint64_t at_mono_ns)
{
	reader->cut.at_mono_ns = at_mono_ns;
	reader->cut.done = told;
	reader->asked_ns = clock_mono_ns();
	reader->boundary_ns = 0;
	heartbeat_cut(&all.heartbeat, &reader->cut);
}

static void wait_for(const struct reader *reader)
{
	uint64_t end = clock_mono_ns() + 5 * NSEC_PER_SEC;

	while (!reader->boundary_ns && clock_mono_ns() < end)
		uv_run(&all.loop, UV_RUN_ONCE);
	ck_assert_uint_ne(reader->boundary_ns, 0);
	/* All samples up to the boundary have been drained. */
	ck_assert_uint_eq(all.ends[reader->drains - 1], reader->boundary_ns);
	ck_assert_uint_ge(reader->boundary_ns, reader->cut.at_mono_ns ?: reader->asked_ns);
}

static void start(void)
{
	memset(&all, 0, sizeof(all));
	ck_assert_int_eq(uv_loop_init(&all.loop), 0);
	all.skeleton.bss = &all.bss;
	all.bpf = (struct bpf){.skeleton = &all.skeleton, .cpu_limit = 1, .quiet = all.quiet};
	all.heartbeat = (struct heartbeat){.bpf = &all.bpf, .eve_of = eve, .drain = drain};
	heartbeat_init(&all.heartbeat, &all.loop);
	heartbeat_begin(&all.heartbeat);
	ck_assert_int_eq(heartbeat_start(&all.heartbeat), 0);
}

static void stop(void)
{
	heartbeat_stop(&all.heartbeat);
	uv_run(&all.loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(uv_loop_close(&all.loop), 0);
}

static void run_for(uint64_t ns)
{
	uint64_t end = clock_mono_ns() + ns;

	while (clock_mono_ns() < end)
		uv_run(&all.loop, UV_RUN_ONCE);
}

START_TEST(it_drains_once_a_second)
{
	uint64_t begin = clock_mono_ns();

	while (all.drains < 3)
		uv_run(&all.loop, UV_RUN_ONCE);
	/* The first drain comes soon. */
	ck_assert_uint_ge(all.ends[2] - begin, 1900 * NSEC_PER_MSEC);
}
END_TEST

START_TEST(who_is_in_a_hurry_shares)
{
	ask(&all.readers[0], 0);
	ask(&all.readers[1], 0);
	/* This process may have been without a CPU until after that moment. */
	bool both = clock_mono_ns() < all.heartbeat.end_mono_ns;
	wait_for(&all.readers[0]);
	wait_for(&all.readers[1]);
	ck_assert(!both || all.readers[0].boundary_ns == all.readers[1].boundary_ns);
}
END_TEST

/* The flip for a planned moment is given to the kernel half early, and another flip fits in before
 * it. */
START_TEST(a_moment_is_kept)
{
	struct reader *planned = &all.readers[0], *hurried = &all.readers[1];
	uint64_t at = clock_mono_ns() + 90 * NSEC_PER_MSEC;

	ask(planned, at);
	ask(hurried, 0);
	bool fits = clock_mono_ns() + 50 * NSEC_PER_MSEC < at;
	wait_for(hurried);
	bool in_time = clock_mono_ns() < at;
	ck_assert(!fits || hurried->boundary_ns < at);
	wait_for(planned);
	ck_assert(!in_time || planned->boundary_ns == at);
}
END_TEST

/* A reader that asks for another boundary while the list is answered must not join this one,
 * although its next moment is near or over by then. */
START_TEST(who_asks_again_is_told_of_another_boundary)
{
	all.drain_takes_ns = _i ? 80 * NSEC_PER_MSEC : 0;
	for (int i = 0; i < READERS; i++) {
		all.readers[i].then_ns = 50 * NSEC_PER_MSEC;
		ask(&all.readers[i], 0);
	}
	for (int i = 0; i < READERS; i++) {
		wait_for(&all.readers[i]);
		ck_assert_uint_eq(all.readers[i].then_ns, 0);
	}
}
END_TEST

/* What was going on at the daemon's own flips is not accounted for as exactly as at a boundary that
 * a reader wants. */
START_TEST(who_comes_after_the_eve_is_told_of_another_boundary)
{
	while (all.eves == all.drains)
		uv_run(&all.loop, UV_RUN_ONCE);
	uint64_t passed = all.heartbeat.end_mono_ns;
	ask(&all.readers[0], 0);
	wait_for(&all.readers[0]);
	ck_assert_uint_gt(all.readers[0].boundary_ns, passed);
}
END_TEST

START_TEST(who_does_not_want_it_any_more_is_not_told)
{
	ask(&all.readers[0], 0);
	ask(&all.readers[1], clock_mono_ns() + 150 * NSEC_PER_MSEC);
	heartbeat_cancel(&all.heartbeat, &all.readers[0].cut);
	heartbeat_cancel(&all.heartbeat, &all.readers[1].cut);
	run_for(300 * NSEC_PER_MSEC);
	ck_assert_uint_eq(all.readers[0].boundary_ns, 0);
	ck_assert_uint_eq(all.readers[1].boundary_ns, 0);
}
END_TEST

Suite *heartbeat_suite(void)
{
	Suite *suite = suite_create("heartbeat");
	TCase *tcase = tcase_create("heartbeat");

	tcase_add_checked_fixture(tcase, start, stop);
	tcase_add_test(tcase, it_drains_once_a_second);
	tcase_add_test(tcase, who_is_in_a_hurry_shares);
	tcase_add_test(tcase, a_moment_is_kept);
	tcase_add_loop_test(tcase, who_asks_again_is_told_of_another_boundary, 0, 2);
	tcase_add_test(tcase, who_comes_after_the_eve_is_told_of_another_boundary);
	tcase_add_test(tcase, who_does_not_want_it_any_more_is_not_told);
	tcase_set_timeout(tcase, 20);
	suite_add_tcase(suite, tcase);
	return suite;
}
