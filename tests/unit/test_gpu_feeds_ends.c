/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What is left when a process ends or executes another program, when memory is exhausted, and when
 * there is no room.
 */
#include "tests/unit/gpu_feeds_fixture.h"

#include <unistd.h>

START_TEST(process_ends)
{
	tell(GPU_EVENT_ALLOC, 0x100, 1000, 0);
	event.pid = OTHER;
	tell(GPU_EVENT_ALLOC, 0x100, 20, 0);
	gpu_feeds_settle(feeds);
	check(KIND_gpu_memory, true, 2, 1020);
	procs_exit(tables.procs, PID, PID, event.time_ns + 1);
	gpu_feeds_settle(feeds);
	check(KIND_gpu_memory, true, 1, 20);
	/* Its allocations are reported although it has ended. */
	check(KIND_gpu_memory, false, 2, 1020);
	ck_assert_uint_eq(figures(0)->pid, OTHER);
	ck_assert_uint_eq(stats().processes, 1);
	for (int drain = 0; drain < 4; drain++)
		gpu_feeds_drained(feeds, NSEC_PER_SEC);
	check(KIND_gpu_memory, true, 1, 20);
}
END_TEST

START_TEST(goes_on_after_all)
{
	uint32_t self = (uint32_t)getpid();

	event.pid = self;
	tell(GPU_EVENT_ALLOC, 0x100, 20, 0);
	procs_exit(tables.procs, self, self, event.time_ns + 1);
	gpu_feeds_settle(feeds);
	check(KIND_gpu_memory, true, 0, 0);
	procs_expire(tables.procs, event.time_ns + 2);
	ck_assert(!procs_known(tables.procs, self));
	/* The process table does not know its threads, but the process exists. */
	gpu_feeds_settle(feeds);
	for (int drain = 0; drain < 4; drain++)
		gpu_feeds_drained(feeds, NSEC_PER_SEC);
	check(KIND_gpu_memory, true, 1, 20);
}
END_TEST

START_TEST(one_user_does_not_take_all)
{
	/* These processes do not exist, so they count as the processes of one user. */
	for (uint32_t i = 0; i < 2 * MAX_GPU_FEEDS; i++) {
		event.pid = PID + i;
		tell(GPU_EVENT_ALLOC, 0x100, 1, 0);
	}
	ck_assert_uint_eq(stats().processes, MAX_GPU_FEEDS / 2);
	ck_assert_uint_eq(stats().processes_lost, 2 * MAX_GPU_FEEDS - MAX_GPU_FEEDS / 2);
	event.pid = (uint32_t)getpid();
	tell(GPU_EVENT_ALLOC, 0x100, 1, 0);
	ck_assert_uint_eq(stats().processes, MAX_GPU_FEEDS / 2 + 1);
	/* A refused process is considered again when there may be room. */
	for (int drain = 0; drain < 4; drain++) {
		gpu_feeds_settle(feeds);
		gpu_feeds_drained(feeds, NSEC_PER_SEC);
	}
	event.pid = PID + 2 * MAX_GPU_FEEDS - 1;
	tell(GPU_EVENT_ALLOC, 0x100, 1, 0);
	ck_assert_uint_eq(stats().processes_lost, 2 * MAX_GPU_FEEDS - MAX_GPU_FEEDS / 2);
}
END_TEST

START_TEST(no_room_for_what_is_new)
{
	struct gpu_feed *feed = gpu_feeds_get(feeds, PID, IMAGE, 1000);

	tell(GPU_EVENT_ALLOC, 0x100, 1000, 0);
	feed->paths.crowded = true;
	/* The free of the old allocation was lost. The old one is removed, and the new one may take
	 * its place. */
	tell(GPU_EVENT_ALLOC, 0x100, 30, 0);
	check(KIND_gpu_memory, true, 1, 30);
	for (uint64_t i = 1; i < 1000; i++)
		tell(GPU_EVENT_ALLOC, 0x100 + i, 1, 0);
	ck_assert_uint_gt(stats().table_full, 900);
	tell(GPU_EVENT_ALLOC, 0x100, 7, 0);
	tell(GPU_EVENT_FREE, 0x100, 0, 0);
	ck_assert_uint_eq(figures(0)->in_use[GPU_MEMORY_DEVICE], 1000 - 1 - stats().table_full);
}
END_TEST

START_TEST(exec_in_between)
{
	tell(GPU_EVENT_ALLOC, 0x100, 1000, 0);
	send_name(5, "before");
	procs_exec(tables.procs, PID, "other", event.time_ns + 1);
	event.time_ns += 2;
	event.image = IMAGE + 1;
	tell(GPU_EVENT_ALLOC, 0x200, 30, 0);
	/* An event of the program that has ended does not free memory of the new program. */
	event.image = IMAGE;
	tell(GPU_EVENT_FREE, 0x200, 0, 0);
	gpu_feeds_settle(feeds);
	check(KIND_gpu_memory, true, 1, 30);
	ck_assert_str_eq(figures(0)->comm, "other");
	ck_assert_uint_eq(found_count, 1);
	ck_assert_ptr_null(
		gpu_names_find(&gpu_feeds_get(feeds, PID, IMAGE + 1, event.time_ns)->handles, 5));
}
END_TEST

START_TEST(out_of_memory)
{
	const struct profile *profile;
	uint32_t last;

	tell(GPU_EVENT_ALLOC, 0x100, 1000, CODE + 1);
	tell(GPU_EVENT_ALLOC, 0x200, 500, CODE + 2);
	tell(GPU_EVENT_OOM, 0, 1 << 30, CODE + 3);
	ck_assert_uint_eq(kept_count, 1);
	ck_assert_uint_eq(kept[0].pid, PID);
	ck_assert_uint_eq(kept[0].kind, KIND_gpu_memory);
	ck_assert_int_eq(kept[0].reason, KEEPSAKE_gpu_memory);
	ck_assert_str_eq(kept[0].comm, "train");
	ck_assert_uint_eq(kept[0].bytes, 1500);
	profile = kept[0].profile;
	CHECK_SUMS(profile, 1, 1 << 30, 2, 1500);
	last = profile->samples[profile->sample_count - 1].task;
	ck_assert_str_eq(profile_string(profile, profile->tasks[last].memory), "device, failed");
	ck_assert_uint_eq(figures(0)->failures, 1);
	ck_assert_uint_eq(figures(0)->allocations, 2);
	check(KIND_gpu_memory, false, 2, 1500);
	check(KIND_gpu_memory, true, 2, 1500);
	/* A failure that the framework reports is in the framework's profile. */
	event.layer = GPU_LAYER_TENSOR;
	tell(GPU_EVENT_OOM, 0, 1 << 20, CODE + 3);
	ck_assert_uint_eq(kept[1].kind, KIND_gpu_tensor);
	CHECK_SUMS(kept[1].profile, 1, 1 << 20, 0, 0);
}
END_TEST

START_TEST(out_of_memory_again_and_again)
{
	for (int i = 0; i < 100; i++)
		tell(GPU_EVENT_OOM, 0, 1 << 30, 0);
	/* Two calls that ended in the opposite order. */
	for (int i = 0; i < 100; i++) {
		tell(GPU_EVENT_OOM, 0, 1 << 30, 0);
		event.time_ns -= 200;
		tell(GPU_EVENT_OOM, 0, 1 << 30, 0);
		event.time_ns += 200;
	}
	ck_assert_uint_eq(kept_count, GPU_FAILURES_A_SECOND);
	ck_assert_uint_eq(figures(0)->failures, 300);
	event.time_ns += NSEC_PER_SEC;
	tell(GPU_EVENT_OOM, 0, 1 << 30, 0);
	ck_assert_uint_eq(kept_count, GPU_FAILURES_A_SECOND + 1);
}
END_TEST

Suite *gpu_feeds_ends_suite(void)
{
	Suite *suite = suite_create("gpu_feeds_ends");
	TCase *tcase = tcase_create("gpu_feeds_ends");

	tcase_add_checked_fixture(tcase, gpu_feeds_set_up, gpu_feeds_tear_down);
	tcase_add_test(tcase, process_ends);
	tcase_add_test(tcase, goes_on_after_all);
	tcase_add_test(tcase, one_user_does_not_take_all);
	tcase_add_test(tcase, no_room_for_what_is_new);
	tcase_add_test(tcase, exec_in_between);
	tcase_add_test(tcase, out_of_memory);
	tcase_add_test(tcase, out_of_memory_again_and_again);
	suite_add_tcase(suite, tcase);
	return suite;
}
