/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * profd's own overhead: shares of a CPU over the last minute, and the figures of this process.
 */
#include "tests/unit/suites.h"

#include "base/clock.h"
#include "collect/own_cost.h"

#include <sys/mman.h>

static const uint64_t start_ns = 1000 * NSEC_PER_SEC;

static struct own_point point_at(uint64_t second, uint64_t daemon_ms, uint64_t bpf_ms)
{
	return (struct own_point){
		.mono_ns = start_ns + second * NSEC_PER_SEC,
		.cpu_ns = {[OWN_CPU_daemon] = daemon_ms * NSEC_PER_MSEC,
	                   [OWN_CPU_bpf] = bpf_ms * NSEC_PER_MSEC},
	};
}

static void keep(struct own_rate *rate, uint64_t second, uint64_t daemon_ms, uint64_t bpf_ms)
{
	const struct own_point point = point_at(second, daemon_ms, bpf_ms);

	own_rate_keep(rate, &point);
}

static double share_at(const struct own_rate *rate, uint64_t second, uint64_t daemon_ms)
{
	const struct own_point now = point_at(second, daemon_ms, 0);
	double shares[OWN_CPU_COUNT];

	own_rate_shares(rate, &now, shares);
	return shares[OWN_CPU_daemon];
}

START_TEST(points_are_kept_now_and_then)
{
	struct own_rate rate = {0};

	ck_assert(own_rate_due(&rate, start_ns));
	keep(&rate, 0, 0, 0);
	ck_assert(!own_rate_due(&rate, start_ns));
	ck_assert(!own_rate_due(&rate, start_ns + OWN_POINT_SECONDS * NSEC_PER_SEC - 1));
	ck_assert(own_rate_due(&rate, start_ns + OWN_POINT_SECONDS * NSEC_PER_SEC));
}
END_TEST

START_TEST(since_the_start_at_first)
{
	struct own_rate rate = {0};
	const struct own_point now = point_at(10, 600, 5);
	double shares[OWN_CPU_COUNT];

	ck_assert_double_eq(share_at(&rate, 10, 500), 0);
	keep(&rate, 0, 100, 0);
	ck_assert_double_eq(share_at(&rate, 0, 200), 0);
	own_rate_shares(&rate, &now, shares);
	ck_assert_double_eq_tol(shares[OWN_CPU_daemon], 0.05, 1e-9);
	ck_assert_double_eq(shares[OWN_CPU_readers], 0);
	ck_assert_double_eq_tol(shares[OWN_CPU_bpf], 0.0005, 1e-9);
}
END_TEST

/* A second of CPU time at the start, then nothing: after a minute none of it counts. */
START_TEST(a_minute_later_it_is_forgotten)
{
	struct own_rate rate = {0};

	keep(&rate, 0, 0, 0);
	for (uint64_t second = OWN_POINT_SECONDS; second <= 60; second += OWN_POINT_SECONDS)
		keep(&rate, second, 1000, 0);
	ck_assert_double_eq_tol(share_at(&rate, 60, 1000), 1.0 / 60, 1e-9);
	keep(&rate, 65, 1000, 0);
	ck_assert_double_eq(share_at(&rate, 65, 1000), 0);
	for (uint64_t second = 70; second <= 1000; second += OWN_POINT_SECONDS)
		keep(&rate, second, 1000 + second - 65, 0);
	ck_assert_double_eq_tol(share_at(&rate, 1001, 1000 + 1001 - 65), 0.001, 1e-9);
}
END_TEST

START_TEST(of_this_process)
{
	enum { BYTES = 32 << 20 };
	struct own_rate rate = {0};
	struct own_group group = {0};
	struct own_cost before, after;
	void *memory;
	uint64_t began;

	own_rate_tick(&rate, 7);
	own_rate_tick(&rate, 7);
	ck_assert_uint_eq(rate.count, 1);
	own_cost_read(&rate, &group, 7, &before);
	memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
	              MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	ck_assert(memory != MAP_FAILED);
	began = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < began + 20 * NSEC_PER_MSEC)
		;
	own_cost_read(&rate, &group, 9, &after);
	ck_assert_uint_ge(after.cpu_ns[OWN_CPU_daemon], began + 20 * NSEC_PER_MSEC);
	ck_assert_uint_le(after.cpu_ns[OWN_CPU_daemon], clock_ns(CLOCK_PROCESS_CPUTIME_ID));
	ck_assert_uint_eq(after.cpu_ns[OWN_CPU_bpf], 9);
	ck_assert(after.cpu_share[OWN_CPU_daemon] > 0);
	/* Page counters may lag by one batch on each CPU. */
	ck_assert_uint_ge(after.memory_bytes[OWN_MEMORY_daemon],
	                  before.memory_bytes[OWN_MEMORY_daemon] + BYTES / 8 * 7);
	munmap(memory, BYTES);
}
END_TEST

Suite *own_cost_suite(void)
{
	Suite *suite = suite_create("own_cost");
	TCase *tests = tcase_create("all");

	tcase_add_test(tests, points_are_kept_now_and_then);
	tcase_add_test(tests, since_the_start_at_first);
	tcase_add_test(tests, a_minute_later_it_is_forgotten);
	tcase_add_test(tests, of_this_process);
	suite_add_tcase(suite, tests);
	return suite;
}
