/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The history of several kinds: each has its share, and a burst of one kind evicts nothing of
 * another.
 */
#include "tests/unit/suites.h"

#include "base/clock.h"
#include "profile/builder.h"
#include "profile/history.h"

#include <errno.h>

enum { FEW, MANY, KINDS };

static const uint32_t shares[KINDS] = {3, 1};
static const struct recorder_limits limits = {
	.window_ns = 10 * NSEC_PER_SEC, .keep_ns = 600 * NSEC_PER_SEC, .max_bytes = 64 << 10};

/* A slice of one second with that many samples. */
static struct profile *slice_of(uint64_t second, uint32_t samples)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	struct profile *slice = NULL;

	builder_time(builder, second * NSEC_PER_SEC, second * NSEC_PER_SEC, NSEC_PER_SEC);
	builder_value_type(builder, "samples", "count");
	for (uint32_t i = 1; i <= samples; i++) {
		uint32_t node = builder_node(builder, 0, builder_location(builder, 0, i));

		builder_sample(builder, node, 0, (uint64_t[PROFILE_VALUES]){1});
	}
	ck_assert_int_eq(builder_seal(builder, &slice), 0);
	return slice;
}

static struct recorder_stats stats_of(const struct history *history, size_t kind)
{
	struct recorder_stats stats;

	recorder_get_stats(history_recorder(history, kind), &stats);
	return stats;
}

START_TEST(memory_is_shared_out)
{
	struct history *history = history_new(&limits, shares, KINDS, 16);

	ck_assert_uint_eq(history_max_bytes(history, FEW), 12 << 10);
	ck_assert_uint_eq(history_max_bytes(history, MANY), 4 << 10);
	history_free(history);
	history_free(NULL);
}
END_TEST

START_TEST(a_storm_drops_only_its_own)
{
	struct history *history = history_new(&limits, shares, KINDS, 16);

	for (uint64_t second = 0; second < 8; second++) {
		struct profile *slices[KINDS] = {slice_of(second, 1), slice_of(second, 100)};

		ck_assert_int_eq(history_add(history, slices), 0);
	}
	ck_assert_uint_eq(stats_of(history, FEW).slices, 8);
	ck_assert_uint_eq(stats_of(history, FEW).windows_evicted, 0);
	ck_assert_uint_lt(stats_of(history, MANY).slices, 8);
	ck_assert_uint_gt(stats_of(history, MANY).windows_evicted, 0);
	history_free(history);
}
END_TEST

START_TEST(less_memory_keeps_less)
{
	struct history *history = history_new(&limits, shares, KINDS, 16);
	size_t before;

	for (uint64_t second = 0; second < 8; second++) {
		struct profile *slices[KINDS] = {slice_of(second * 60, 20), NULL};

		ck_assert_int_eq(history_add(history, slices), 0);
	}
	before = stats_of(history, FEW).slices;
	history_resize(history, limits.max_bytes / 4);
	ck_assert_uint_eq(history_max_bytes(history, FEW), 3 << 10);
	ck_assert_uint_lt(stats_of(history, FEW).slices, before);
	ck_assert_uint_gt(stats_of(history, FEW).slices, 0);
	ck_assert_uint_le(stats_of(history, FEW).bytes, 3 << 10);
	/* A kind without slices has none to drop. */
	ck_assert_uint_eq(stats_of(history, MANY).slices, 0);
	history_free(history);
}
END_TEST

START_TEST(a_kind_may_have_no_slice)
{
	struct history *history = history_new(&limits, shares, KINDS, 16);
	struct profile *slices[KINDS] = {slice_of(0, 1), NULL};

	ck_assert_int_eq(history_add(history, slices), 0);
	ck_assert_uint_eq(stats_of(history, FEW).slices, 1);
	ck_assert_uint_eq(stats_of(history, MANY).slices, 0);
	history_free(history);
}
END_TEST

Suite *history_suite(void)
{
	Suite *suite = suite_create("history");
	TCase *tests = tcase_create("history");

	tcase_add_test(tests, memory_is_shared_out);
	tcase_add_test(tests, a_storm_drops_only_its_own);
	tcase_add_test(tests, less_memory_keeps_less);
	tcase_add_test(tests, a_kind_may_have_no_slice);
	suite_add_tcase(suite, tests);
	return suite;
}
