/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Timelines of many processes within their bounds, and what is kept of processes that died.
 */
#include "tests/unit/suites.h"

#include "base/clock.h"
#include "memory/keepsakes.h"
#include "memory/timeline_ends.h"
#include "profile/builder.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct timeline_limits ample = {
	.keep_ms = 600 * 1000, .max_bytes = 1 << 30, .max_processes = 1000};

static void see(struct timeline *timeline, uint32_t pid, const char *comm, uint64_t second,
                uint64_t mib)
{
	struct timeline_process seen = {.pid = pid, .start_ticks = pid, .seen_ms = second * 1000};

	snprintf(seen.comm, sizeof(seen.comm), "%s", comm);
	seen.figures.values[MEMORY_rss_anon] = mib << 20;
	seen.figures.values[MEMORY_heap_inuse] = MEMORY_UNKNOWN;
	timeline_process(timeline, &seen);
}

/* The process holds `mib` of memory, of which `heap_mib` are in use by its heap. */
static void see_heap(struct timeline *timeline, uint64_t second, uint64_t mib, uint64_t heap_mib)
{
	struct timeline_process seen = {
		.pid = 1, .start_ticks = 1, .seen_ms = second * 1000, .comm = "heap"};

	seen.figures.values[MEMORY_rss_anon] = mib << 20;
	seen.figures.values[MEMORY_heap_inuse] = heap_mib << 20;
	timeline_process(timeline, &seen);
	timeline_settle(timeline, second * 1000);
}

static struct timeline_stats stats_of(const struct timeline *timeline)
{
	struct timeline_stats stats;

	timeline_get_stats(timeline, &stats);
	return stats;
}

START_TEST(the_dead_stay_until_they_are_old)
{
	_cleanup_(timeline_freep) struct timeline *timeline = timeline_new(&ample);

	for (uint64_t s = 0; s < 700; s++) {
		if (s < 50)
			see(timeline, 1, "short", s, s);
		see(timeline, 2, "long", s, s);
		timeline_settle(timeline, s * 1000);
		if (s == 50) {
			ck_assert(timeline_find(timeline, 1)->ended);
			ck_assert(!timeline_find(timeline, 2)->ended);
			ck_assert_uint_eq(timeline_find(timeline, 1)->series.count, 50);
		}
	}
	ck_assert_ptr_null(timeline_find(timeline, 1));
	ck_assert_uint_eq(timeline_find(timeline, 2)->series.count, 601);
	ck_assert(timeline_find(timeline, 2)->track.growth.leaking);
	ck_assert_uint_eq(stats_of(timeline).leaking, 1);
	ck_assert_uint_eq(stats_of(timeline).evicted, 0);
}
END_TEST

START_TEST(a_pid_that_is_given_again)
{
	_cleanup_(timeline_freep) struct timeline *timeline = timeline_new(&ample);
	struct timeline_process other = {.pid = 1, .start_ticks = 99, .seen_ms = 9000};

	for (uint64_t s = 0; s < 5; s++)
		see(timeline, 1, "first", s, s);
	timeline_process(timeline, &other);
	ck_assert_uint_eq(timeline_find(timeline, 1)->series.count, 1);
	ck_assert_uint_eq(stats_of(timeline).processes, 1);
}
END_TEST

START_TEST(another_program_starts_anew)
{
	_cleanup_(timeline_freep) struct timeline *timeline = timeline_new(&ample);

	for (uint64_t s = 0; s < 300; s++) {
		see(timeline, 1, "leaks", s, 4 * s);
		timeline_settle(timeline, s * 1000);
	}
	ck_assert(timeline_find(timeline, 1)->track.growth.leaking);
	see(timeline, 1, "other", 300, 1201);
	ck_assert(!timeline_find(timeline, 1)->track.growth.leaking);
	timeline_settle(timeline, 300 * 1000);
	ck_assert(!timeline_find(timeline, 1)->track.growth.leaking);
	ck_assert_uint_eq(timeline_find(timeline, 1)->series.count, 301);
}
END_TEST

START_TEST(what_fills_is_not_judged)
{
	_cleanup_(timeline_freep) struct timeline *timeline = timeline_new(&ample);
	struct timeline_process seen = {.pid = 1, .start_ticks = 1, .comm = "self"};

	for (uint64_t s = 0; s < 1200; s++) {
		seen.seen_ms = s * 1000;
		seen.fills = s < 600;
		seen.figures.values[MEMORY_rss_anon] = (s < 600 ? s : 600) << 20;
		seen.figures.values[MEMORY_heap_inuse] = MEMORY_UNKNOWN;
		timeline_process(timeline, &seen);
		timeline_settle(timeline, s * 1000);
		ck_assert(!timeline_find(timeline, 1)->track.growth.leaking);
	}
}
END_TEST

/* A growing process takes a kilobyte to be judged. Processes without room are counted, and a
 * process that ends makes room. */
START_TEST(what_is_judged_has_a_bound)
{
	const struct timeline_limits limits = {
		.keep_ms = 600 * 1000, .max_bytes = 64 << 10, .max_processes = 150};
	_cleanup_(timeline_freep) struct timeline *timeline = timeline_new(&limits);

	for (uint64_t s = 0; s < 10; s++) {
		for (uint32_t pid = 1; pid <= 100; pid++)
			see(timeline, pid, "grows", s, 10 * s);
		timeline_settle(timeline, s * 1000);
	}
	ck_assert_uint_ge(stats_of(timeline).unjudged, 80);
	ck_assert_uint_lt(stats_of(timeline).unjudged, 100);
	for (uint64_t s = 10; s < 400; s++) {
		see(timeline, 100, "grows", s, 10 * s);
		timeline_settle(timeline, s * 1000);
	}
	ck_assert_uint_eq(stats_of(timeline).unjudged, 0);
	ck_assert_uint_eq(stats_of(timeline).leaking, 1);
}
END_TEST

/* Many processes have grown once and sleep, and one leaks. */
START_TEST(nobody_takes_all_room_to_judge)
{
	enum { HIM = 1000, HER = 1001, HERS = 5000 };
	const struct timeline_limits limits = {
		.keep_ms = 600 * 1000, .max_bytes = 256 << 10, .max_processes = 1000};
	_cleanup_(timeline_freep) struct timeline *timeline = timeline_new(&limits);
	struct timeline_process seen = {0};
	uint64_t unjudged;

	seen.figures.values[MEMORY_heap_inuse] = MEMORY_UNKNOWN;
	for (uint64_t s = 0; s < 400; s++) {
		seen.seen_ms = s * 1000;
		seen.user = HIM;
		seen.figures.values[MEMORY_rss_anon] = s ? 8 << 20 : 0;
		for (seen.pid = 1; seen.pid <= 100; seen.pid++)
			timeline_process(timeline, &seen);
		if (s == 2)
			unjudged = stats_of(timeline).unjudged;
		seen.pid = HERS;
		seen.user = HER;
		seen.figures.values[MEMORY_rss_anon] = s << 21;
		timeline_process(timeline, &seen);
		timeline_settle(timeline, s * 1000);
	}
	ck_assert_uint_ge(unjudged, 30);
	ck_assert_uint_lt(unjudged, 60);
	ck_assert_uint_eq(stats_of(timeline).unjudged, unjudged);
	ck_assert(timeline_find(timeline, HERS)->track.growth.leaking);
}
END_TEST

START_TEST(a_heap_leaks_into_room_it_had)
{
	_cleanup_(timeline_freep) struct timeline *timeline = timeline_new(&ample);

	see(timeline, 1, "heap", 0, 10);
	see_heap(timeline, 1, 20, 10);
	for (uint64_t s = 2; s < 300; s++)
		see_heap(timeline, s, 2000, 10 + 4 * s);
	ck_assert(timeline_find(timeline, 1)->track.growth.leaking);
	ck_assert_int_eq(timeline_find(timeline, 1)->track.growth.of, GROWTH_heap);
	ck_assert_uint_eq(stats_of(timeline).leaking, 1);
}
END_TEST

START_TEST(a_heap_that_is_only_replaced)
{
	_cleanup_(timeline_freep) struct timeline *timeline = timeline_new(&ample);

	/* The process held 1500 MiB when its heap became known: up to that amount, the heap may
	 * have held it all before. */
	see(timeline, 1, "heap", 0, 1500);
	for (uint64_t s = 1; s < 340; s++)
		see_heap(timeline, s, 1500, 100 + 4 * s);
	ck_assert(!timeline_find(timeline, 1)->track.growth.leaking);
	for (uint64_t s = 340; s < 500; s++)
		see_heap(timeline, s, 1500, 100 + 4 * s);
	ck_assert_int_eq(timeline_find(timeline, 1)->track.growth.of, GROWTH_heap);
	ck_assert(timeline_find(timeline, 1)->track.growth.leaking);
}
END_TEST

START_TEST(the_whole_has_its_bounds)
{
	struct timeline_limits limits = {
		.keep_ms = 600 * 1000, .max_bytes = 256 << 10, .max_processes = 150};
	_cleanup_(timeline_freep) struct timeline *timeline = timeline_new(&limits);

	for (uint64_t s = 0; s < 600; s++) {
		for (uint32_t pid = 1; pid <= 100; pid++)
			see(timeline, pid, "busy", s, (s * pid) % 1000);
		see(timeline, 1000 + (uint32_t)s, "once", s, 1);
		timeline_settle(timeline, s * 1000);
	}
	/* Processes that have ended are dropped first. */
	ck_assert_uint_le(stats_of(timeline).bytes, 256 << 10);
	ck_assert_uint_gt(stats_of(timeline).evicted, 0);
	ck_assert_uint_eq(stats_of(timeline).dropped, 0);
	ck_assert_uint_ge(timeline_find(timeline, 50)->series.count, 60);
	for (uint32_t pid = 101; pid <= 300; pid++)
		see(timeline, pid, "more", 600, 1);
	ck_assert_uint_gt(stats_of(timeline).dropped, 0);
	ck_assert_uint_le(stats_of(timeline).processes, 150);
}
END_TEST

/* However busy a user's processes are, another user's processes keep all their points, even after
 * they have ended. */
START_TEST(who_has_most_gives_way)
{
	enum { HIS = 1000, HERS = 2000 };
	const struct timeline_limits limits = {
		.keep_ms = 600 * 1000, .max_bytes = 256 << 10, .max_processes = 150};
	_cleanup_(timeline_freep) struct timeline *timeline = timeline_new(&limits);
	struct timeline_process seen = {0};

	for (uint64_t s = 0; s < 600; s++) {
		for (uint32_t pid = 1; pid <= 102; pid++) {
			if (pid == 102 && s > 10)
				continue;
			seen = (struct timeline_process){
				.pid = pid,
				.start_ticks = pid,
				.seen_ms = s * 1000,
				.user = pid <= 100 ? HIS : HERS,
				.figures.values[MEMORY_rss_anon] = ((s * pid) % 1000) << 20,
			};
			timeline_process(timeline, &seen);
		}
		for (uint32_t more = 0; more < 10; more++)
			see(timeline, 1000 + (uint32_t)s * 10 + more, "once", s, 1);
		timeline_settle(timeline, s * 1000);
	}
	ck_assert_uint_le(stats_of(timeline).bytes, 256 << 10);
	ck_assert_uint_gt(stats_of(timeline).evicted, 0);
	ck_assert_uint_lt(timeline_find(timeline, 50)->series.count, 300);
	ck_assert_uint_eq(timeline_find(timeline, 101)->series.count, 600);
	ck_assert(timeline_find(timeline, 102)->ended);
	ck_assert_uint_eq(timeline_find(timeline, 102)->series.count, 11);
}
END_TEST

/* This takes minutes if processes are removed one after the other with a search through all. */
START_TEST(many_may_end_together)
{
	enum { MANY = 50000, LAST = 100 };
	const struct timeline_limits limits = {
		.keep_ms = 600 * 1000, .max_bytes = 1 << 20, .max_processes = MANY};
	_cleanup_(timeline_freep) struct timeline *timeline = timeline_new(&limits);

	for (uint64_t s = 0; s < 2; s++) {
		for (uint32_t pid = 1; pid <= (s ? LAST : MANY); pid++)
			see(timeline, pid, "x", s, s + 1);
		timeline_settle(timeline, s * 1000);
	}
	ck_assert_uint_le(stats_of(timeline).bytes, 1 << 20);
	ck_assert_uint_gt(stats_of(timeline).bytes, 1 << 19);
	ck_assert_uint_eq(stats_of(timeline).processes + stats_of(timeline).evicted, MANY);
	timeline_settle(timeline, 2000);
	/* The processes that were seen last are dropped last. */
	for (uint32_t pid = 1; pid <= LAST; pid++)
		ck_assert_ptr_nonnull(timeline_find(timeline, pid));
	/* Then there is room for as many again. */
	for (uint32_t pid = 1; pid <= MANY; pid++)
		see(timeline, MANY + pid, "y", 3, 1);
	ck_assert_uint_eq(stats_of(timeline).dropped, 0);
	ck_assert_uint_le(stats_of(timeline).processes, MANY);
}
END_TEST

START_TEST(groups_live_as_long_as_who_is_in_them)
{
	_cleanup_(timeline_freep) struct timeline *timeline = timeline_new(&ample);
	struct control_group_usage usage = {.bytes = 1 << 20, .limit_bytes = 2 << 20};
	struct timeline_process seen = {.pid = 1, .comm = "in"};

	for (uint64_t s = 0; s < 10; s++) {
		usage.bytes += 4096;
		seen.seen_ms = s * 1000;
		seen.group = timeline_group(timeline, "/pod", 0, &usage, s * 1000);
		timeline_process(timeline, &seen);
		timeline_settle(timeline, s * 1000);
	}
	ck_assert_str_eq(timeline_find(timeline, 1)->group->path, "/pod");
	ck_assert_uint_eq(timeline_find(timeline, 1)->group->series.count, 10);
	timeline_settle(timeline, 500 * 1000);
	ck_assert_uint_eq(stats_of(timeline).groups, 1);
	timeline_settle(timeline, 700 * 1000);
	timeline_settle(timeline, 701 * 1000);
	ck_assert_uint_eq(stats_of(timeline).processes, 0);
	ck_assert_uint_eq(stats_of(timeline).groups, 0);
}
END_TEST

static struct keepsake keepsake_of(uint32_t pid, enum keepsake_reason reason)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	struct keepsake keepsake = {.pid = pid, .comm = "hog", .reason = reason};

	builder_value_type(builder, "samples", "count");
	ck_assert_int_eq(builder_seal(builder, &keepsake.profile), 0);
	return keepsake;
}

static uint32_t keep(struct keepsakes *keepsakes, uint32_t pid, enum keepsake_reason reason)
{
	struct keepsake keepsake = keepsake_of(pid, reason);

	return keepsakes_add(keepsakes, &keepsake);
}

static struct keepsakes_stats kept(const struct keepsakes *keepsakes)
{
	struct keepsakes_stats stats;

	keepsakes_get_stats(keepsakes, &stats);
	return stats;
}

START_TEST(the_last_of_a_process_is_kept)
{
	_cleanup_(keepsakes_freep) struct keepsakes *keepsakes = keepsakes_new(1 << 30);
	uint32_t first = keep(keepsakes, 1, KEEPSAKE_near_limit);
	uint32_t second = keep(keepsakes, 1, KEEPSAKE_near_limit);
	uint32_t death = keep(keepsakes, 1, KEEPSAKE_killed);

	ck_assert_ptr_null(keepsakes_find(keepsakes, first));
	ck_assert_ptr_null(keepsakes_find(keepsakes, second));
	ck_assert_int_eq(keepsakes_find(keepsakes, death)->reason, KEEPSAKE_killed);
	keep(keepsakes, 2, KEEPSAKE_near_limit);
	ck_assert_uint_eq(keepsakes_at(keepsakes, 0)->pid, 2);
	ck_assert_uint_eq(keepsakes_at(keepsakes, 1)->pid, 1);
	ck_assert_ptr_null(keepsakes_at(keepsakes, 2));
}
END_TEST

START_TEST(deaths_outlast_what_came_near)
{
	_cleanup_(keepsakes_freep) struct keepsakes *keepsakes = keepsakes_new(1 << 30);
	uint32_t death = keep(keepsakes, 1, KEEPSAKE_killed);

	for (uint32_t pid = 2; pid < 500; pid++)
		keep(keepsakes, pid, KEEPSAKE_near_limit);
	ck_assert_uint_eq(kept(keepsakes).kept, MAX_KEEPSAKES);
	ck_assert_ptr_nonnull(keepsakes_find(keepsakes, death));
	for (uint32_t pid = 500; pid < 1000; pid++)
		keep(keepsakes, pid, KEEPSAKE_killed);
	ck_assert_uint_eq(kept(keepsakes).kept, MAX_KEEPSAKES);
	ck_assert_ptr_null(keepsakes_find(keepsakes, death));
	ck_assert_uint_eq(kept(keepsakes).killed, 501);
	ck_assert_uint_eq(kept(keepsakes).evicted, 999 - MAX_KEEPSAKES);
}
END_TEST

START_TEST(nobody_drives_out_what_others_have_fewer_of)
{
	_cleanup_(keepsakes_freep) struct keepsakes *keepsakes = keepsakes_new(1 << 30);
	struct keepsake theirs = keepsake_of(1, KEEPSAKE_near_limit);
	uint32_t id;

	theirs.owner = 1000;
	id = keepsakes_add(keepsakes, &theirs);
	for (uint32_t pid = 2; pid < 500; pid++)
		keep(keepsakes, pid, KEEPSAKE_gpu_memory);
	ck_assert_uint_eq(kept(keepsakes).kept, MAX_KEEPSAKES);
	ck_assert_ptr_nonnull(keepsakes_find(keepsakes, id));
	/* The same holds when the limit is the size of the entries. */
	keepsakes_resize(keepsakes, 3 * theirs.profile->memory_bytes);
	ck_assert_uint_eq(kept(keepsakes).kept, 3);
	ck_assert_ptr_nonnull(keepsakes_find(keepsakes, id));
}
END_TEST

START_TEST(keepsakes_have_a_bound_of_bytes)
{
	struct keepsake one = keepsake_of(1, KEEPSAKE_killed);
	size_t bytes = one.profile->memory_bytes;
	_cleanup_(keepsakes_freep) struct keepsakes *keepsakes = keepsakes_new(3 * bytes);

	keepsakes_add(keepsakes, &one);
	for (uint32_t pid = 2; pid < 10; pid++)
		keep(keepsakes, pid, KEEPSAKE_killed);
	ck_assert_uint_eq(kept(keepsakes).kept, 3);
	ck_assert_uint_eq(kept(keepsakes).bytes, 3 * bytes);
}
END_TEST

/* The process began `since` seconds after 0 of CLOCK_MONOTONIC. */
static void see_since(struct timeline *timeline, uint32_t pid, uint64_t since, uint64_t second,
                      uint64_t mib)
{
	uint64_t mono_ns = clock_mono_ns(), suspended_ns = clock_boot_ns() - mono_ns;
	struct timeline_process seen = {
		.pid = pid,
		.start_ticks =
			(since + suspended_ns / NSEC_PER_SEC) * (uint64_t)sysconf(_SC_CLK_TCK),
		.seen_ms = second * 1000,
	};

	seen.figures.values[MEMORY_rss_anon] = mib << 20;
	seen.figures.values[MEMORY_heap_inuse] = MEMORY_UNKNOWN;
	timeline_process(timeline, &seen);
}

/* Of processes 1 to 3: the third begins at 7 s, the second ends at 5 s. */
START_TEST(memory_at_the_ends_of_a_time)
{
	_cleanup_(timeline_freep) struct timeline *timeline = timeline_new(&ample);
	_cleanup_(buf_release) struct buf all = BUF_INIT, earlier = BUF_INIT;
	const struct timeline_ends *ends;

	for (uint64_t s = 2; s <= 9; s++) {
		see_since(timeline, 1, 0, s, 10 * s);
		if (s <= 5)
			see_since(timeline, 2, 0, s, 7);
		if (s >= 7)
			see_since(timeline, 3, 7, s, 3);
		timeline_settle(timeline, s * 1000);
	}
	timeline_add_ends(timeline, 4 * NSEC_PER_SEC, 8 * NSEC_PER_SEC, &all);
	ends = (const void *)all.data;
	ck_assert_uint_eq(all.len, 3 * sizeof(*ends));
	for (size_t i = 0; i < 3; i++) {
		uint64_t from = ends[i].pid == 1 ? 40 : ends[i].pid == 2 ? 7 : 0;
		uint64_t to = ends[i].pid == 1 ? 80 : ends[i].pid == 2 ? 0 : 3;

		ck_assert_uint_eq(ends[i].from_bytes, from << 20);
		ck_assert_uint_eq(ends[i].to_bytes, to << 20);
	}
	/* Before the first reading it held what that found; and what ended before is no
	 * part. */
	timeline_add_ends(timeline, NSEC_PER_SEC, 3 * NSEC_PER_SEC, &earlier);
	ends = (const void *)earlier.data;
	for (size_t i = 0; i < earlier.len / sizeof(*ends); i++)
		if (ends[i].pid == 1)
			ck_assert_uint_eq(ends[i].from_bytes, 20 << 20);
	/* A process that began later is no part, whatever its pid was before. */
	buf_clear(&all);
	timeline_add_ends_of(timeline, 3, 2 * NSEC_PER_SEC, 6 * NSEC_PER_SEC, &all);
	ck_assert_uint_eq(all.len, 0);
	timeline_add_ends_of(timeline, 3, 2 * NSEC_PER_SEC, 8 * NSEC_PER_SEC, &all);
	ck_assert_uint_eq(all.len, sizeof(*ends));
	timeline_add_ends_of(timeline, 99, 2 * NSEC_PER_SEC, 8 * NSEC_PER_SEC, &all);
	ck_assert_uint_eq(all.len, sizeof(*ends));
	buf_clear(&all);
	timeline_add_ends(timeline, 6 * NSEC_PER_SEC, 9 * NSEC_PER_SEC, &all);
	ck_assert_uint_eq(all.len, 2 * sizeof(*ends));
}
END_TEST

Suite *timeline_suite(void)
{
	Suite *suite = suite_create("timeline");
	TCase *tests = tcase_create("all");

	tcase_add_test(tests, the_dead_stay_until_they_are_old);
	tcase_add_test(tests, a_pid_that_is_given_again);
	tcase_add_test(tests, another_program_starts_anew);
	tcase_add_test(tests, what_fills_is_not_judged);
	tcase_add_test(tests, what_is_judged_has_a_bound);
	tcase_add_test(tests, nobody_takes_all_room_to_judge);
	tcase_add_test(tests, a_heap_leaks_into_room_it_had);
	tcase_add_test(tests, a_heap_that_is_only_replaced);
	tcase_add_test(tests, the_whole_has_its_bounds);
	tcase_add_test(tests, who_has_most_gives_way);
	tcase_add_test(tests, many_may_end_together);
	tcase_add_test(tests, groups_live_as_long_as_who_is_in_them);
	tcase_add_test(tests, the_last_of_a_process_is_kept);
	tcase_add_test(tests, memory_at_the_ends_of_a_time);
	tcase_add_test(tests, deaths_outlast_what_came_near);
	tcase_add_test(tests, nobody_drives_out_what_others_have_fewer_of);
	tcase_add_test(tests, keepsakes_have_a_bound_of_bytes);
	suite_add_tcase(suite, tests);
	return suite;
}
