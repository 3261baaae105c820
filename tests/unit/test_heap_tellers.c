/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Processes that report their own allocations: however many there are and whatever they report, the
 * memory for that is bounded, and no user takes another user's share.
 */
#include "heap/heap_tellers.h"
#include "tests/unit/suites.h"

#include <malloc.h>
#include <string.h>
#include <unistd.h>

enum {
	PID = 4000001, /* no process has it or the next ones: all count as one unknown user's */
	PIDS = MAX_STANDING_PROCESSES + 1,
	CODE = 0x1000,
	FRAMES = 32,
	TOLD = 3000, /* different stacks: more than each can keep if all processes report as many */
};

static struct drain_tables tables;
static struct heaps_stats stats;
static struct heap_tellers tellers;

static void begin(uint32_t pid)
{
	static const struct file_key no_file;

	procs_exec(tables.procs, pid, "tells", 100);
	procs_mmap(tables.procs, pid, CODE, 0x100000, 0, &no_file, "/no/such/file");
}

static void set_up(void)
{
	tables = (struct drain_tables){.store = store_new(16)};
	tables.procs = procs_new(tables.store);
	stats = (struct heaps_stats){0};
	heap_tellers_init(&tellers, &tables, &stats);
	for (uint32_t i = 0; i < PIDS; i++)
		begin(PID + i);
	begin((uint32_t)getpid());
}

static void tear_down(void)
{
	heap_tellers_release(&tellers);
	procs_free(tables.procs);
	store_free(tables.store);
}

/* Reports an allocation at a new address, with a new stack. False: the process is refused. */
static bool tell(uint32_t pid, uint64_t number)
{
	const struct image *image = procs_image(tables.procs, pid, 1000);
	struct teller *teller = heap_tellers_get(&tellers, pid, image, 1000);
	uint64_t words[FRAMES];
	const struct heap_event event = {
		.pid = pid,
		.time_ns = 1000,
		.address = 0x10000 + 64 * number,
		.size = 64,
		.words = FRAMES,
	};

	if (!teller)
		return false;
	for (uint64_t i = 0; i < FRAMES; i++)
		words[i] = CODE + (number * FRAMES + i) * 7 % 0xfe000;
	heap_feed_alloc(teller->feed, &(struct heap_fed){&event, words, {64, 1}});
	heap_tellers_charge(&tellers, teller);
	return true;
}

/* The memory that is charged is about the memory that is taken. */
START_TEST(memory_is_bounded)
{
	size_t before = mallinfo2().uordblks, share = MAX_STANDING_BYTES_ALL / 2;
	uint64_t samples = 0;

	for (uint32_t pid = PID; pid < PID + 250; pid++)
		for (uint64_t i = 0; i < TOLD; i++)
			samples += tell(pid, i);
	ck_assert_uint_le(tellers.byte_shares.taken, share);
	ck_assert_uint_gt(tellers.byte_shares.taken, share / 2);
	ck_assert_uint_lt(mallinfo2().uordblks - before, share + share / 8);
	/* Samples that were forgotten are counted. */
	ck_assert_uint_gt(stats.heap_begun_anew, 0);
	ck_assert_uint_gt(stats.heap_forgotten, stats.heap_begun_anew);
	ck_assert_uint_lt(stats.heap_forgotten, samples);
}
END_TEST

/* One user's processes fill the memory and the places that they may have. A process of another user
 * is still accepted. */
START_TEST(each_user_has_a_share)
{
	uint32_t own = (uint32_t)getpid();

	for (uint32_t pid = PID; pid < PID + PIDS; pid++)
		for (uint64_t i = 0; i < 3; i++)
			tell(pid, i);
	ck_assert(!tell(PID + PIDS - 1, 0));
	ck_assert_uint_eq(heap_tellers_count(&tellers), MAX_STANDING_PROCESSES / 2);
	for (uint64_t i = 0; i < TOLD; i++)
		ck_assert(tell(own, i));
	ck_assert_ptr_nonnull(heap_tellers_find(&tellers, own));
	ck_assert_uint_eq(stats.heap_begun_anew, 0);
	/* A refused process is accepted once there is room. Two others must end first, because the
	 * other user has a process now. */
	procs_exit(tables.procs, PID, PID, 2000);
	procs_exit(tables.procs, PID + 1, PID + 1, 2000);
	ck_assert(!tell(PID + PIDS - 1, 0));
	heap_tellers_expire(&tellers);
	ck_assert(tell(PID + PIDS - 1, 0));
}
END_TEST

START_TEST(one_process_is_bounded)
{
	for (uint64_t i = 0; !stats.heap_begun_anew; i++) {
		ck_assert(tell(PID, i));
		ck_assert_uint_le(tellers.byte_shares.taken, MAX_STANDING_BYTES);
	}
	/* The process begins anew. */
	ck_assert_uint_eq(heap_tellers_count(&tellers), 0);
	ck_assert_uint_eq(tellers.byte_shares.taken, 0);
	ck_assert(tell(PID, 0));
	ck_assert_uint_eq(heap_tellers_count(&tellers), 1);
}
END_TEST

START_TEST(a_new_program_begins_anew)
{
	ck_assert(tell(PID, 1));
	procs_exec(tables.procs, PID, "other", 500);
	ck_assert(tell(PID, 2));
	ck_assert_uint_eq(heap_tellers_count(&tellers), 1);
	ck_assert_uint_eq(stats.heap_begun_anew, 0);
}
END_TEST

Suite *heap_tellers_suite(void)
{
	Suite *suite = suite_create("heap_tellers");
	TCase *tcase = tcase_create("heap_tellers");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, memory_is_bounded);
	tcase_add_test(tcase, each_user_has_a_share);
	tcase_add_test(tcase, one_process_is_bounded);
	tcase_add_test(tcase, a_new_program_begins_anew);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return suite;
}
