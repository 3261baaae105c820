/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A drain waits for a CPU that is taking a sample, but not forever.
 */
#include "tests/unit/suites.h"

#include "base/clock.h"
#include "kernel/bpf.h"

#include "bpf/profd.skel.h"

#include <stdlib.h>

static struct profd_bpf skeleton;
static bool quiet[2];
static struct bpf bpf;

static void set_up(void)
{
	skeleton.bss = calloc(1, sizeof(*skeleton.bss));
	ck_assert_ptr_nonnull(skeleton.bss);
	bpf = (struct bpf){.skeleton = &skeleton, .cpu_limit = 2, .quiet = quiet};
}

static void tear_down(void)
{
	free(skeleton.bss);
}

/* Whether half 0 is settled `ms` after the flip. */
static bool settled(uint64_t ms)
{
	bpf_flip(&bpf, clock_mono_ns() - ms * NSEC_PER_MSEC);
	return bpf_settled(&bpf, 0);
}

START_TEST(who_is_outside_is_not_waited_for)
{
	ck_assert(settled(0));
	/* This CPU works in the half that is active now. */
	skeleton.bss->cpus[1].busy[0] = BUSY_HALF + 1;
	ck_assert(settled(0));
	ck_assert_uint_eq(bpf.overdue + bpf.unsettled, 0);
}
END_TEST

START_TEST(a_cpu_that_does_not_come_back)
{
	skeleton.bss->cpus[1].busy[0] = _i ? BUSY_HALF : BUSY_STARTING;
	ck_assert(!settled(1900));
	ck_assert(settled(2000));
	ck_assert_uint_eq(bpf.overdue, 1);
	/* The CPU is known to be stuck by now, so only 20 ms are waited. */
	ck_assert(!settled(10));
	ck_assert(settled(20));
	ck_assert_uint_eq(bpf.overdue, 2);
	skeleton.bss->cpus[1].busy[0] = BUSY_NOT;
	ck_assert(settled(0));
	skeleton.bss->cpus[0].busy[0] = BUSY_HALF;
	ck_assert(!settled(1900));
	ck_assert_uint_eq(bpf.overdue, 2);
}
END_TEST

/* A stuck CPU is remembered for its half, although drains alternate between the halves. */
START_TEST(each_half_is_remembered)
{
	skeleton.bss->cpus[1].busy[0] = BUSY_HALF;
	ck_assert(settled(2000));
	bpf_flip(&bpf, clock_mono_ns());
	ck_assert(bpf_settled(&bpf, 1));
	ck_assert(!settled(10));
	ck_assert(settled(20));
	ck_assert_uint_eq(bpf.overdue, 2);
}
END_TEST

Suite *bpf_flip_suite(void)
{
	Suite *suite = suite_create("bpf_flip");
	TCase *tcase = tcase_create("bpf_flip");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, who_is_outside_is_not_waited_for);
	tcase_add_loop_test(tcase, a_cpu_that_does_not_come_back, 0, 2);
	tcase_add_test(tcase, each_half_is_remembered);
	suite_add_tcase(suite, tcase);
	return suite;
}
