/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * More calls at a time, and of more kinds, than there is room for: none is lost without being
 * counted as lost.
 */
#include "tests/gpu/cases.h"
#include "tests/gpu/driver.h"
#include "tests/gpu/watched.h"

#include "base/accounts.h"
#include "bpf/profd.skel.h"

#include <bpf/bpf.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 4, STORM = 20000 };

static void *storm(void *ctx)
{
	const uintptr_t function = (uintptr_t)ctx;

	for (int i = 0; i < STORM; i++) {
		drv_launch(function, 1, 1, 1, 1, 1, 1, 0, 0);
		drv_copy(1, 2, 10);
	}
	return NULL;
}

/* While the half is flipped again and again, with several threads on each CPU, no call is lost and
 * none is counted twice. */
START_TEST(none_is_lost)
{
	pthread_t threads[THREADS];
	uint64_t launched[THREADS] = {0}, copied = 0, counted = 0;
	struct gpu_counts before, after;

	gpu_kernel_counts(&stage.kernel, &before);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, storm, (void *)(i + 1));
	for (int look_at = 0; look_at < 40; look_at++) {
		if (look_at == 39)
			for (int i = 0; i < THREADS; i++)
				pthread_join(threads[i], NULL);
		else
			usleep(3000);
		look();
		for (size_t i = 0; i < drained.gpu_count; i++) {
			const struct gpu_call_key *key = &drained.gpu_keys[i];

			if (key->kind == KIND_gpu_copy)
				copied += drained.gpu_calls[i].value;
			else if (key->object >= 1 && key->object <= THREADS)
				launched[key->object - 1] += drained.gpu_calls[i].count;
		}
		counted += drained.counters.values[COUNTER_gpu_launches];
	}
	gpu_kernel_counts(&stage.kernel, &after);
	for (int i = 0; i < THREADS; i++)
		ck_assert_uint_eq(launched[i], STORM);
	ck_assert_uint_eq(copied, THREADS * STORM * 10);
	ck_assert_uint_eq(counted, THREADS * STORM);
	ck_assert_uint_eq(after.hits - before.hits, THREADS * STORM * 2);
	ck_assert_uint_eq(after.rows_lost, before.rows_lost);
	/* Only a few stacks are walked. */
	ck_assert_uint_lt(after.walked - before.walked, THREADS * STORM / 5);
}
END_TEST

/* How often each of these functions was launched; 0: not all of them equally often. */
static uint64_t times_each(unsigned functions)
{
	uint64_t count[GPU_CALLS_ROWS] = {0};

	for (size_t i = 0; i < drained.gpu_count; i++)
		if (drained.gpu_keys[i].object <= functions)
			count[drained.gpu_keys[i].object - 1] += drained.gpu_calls[i].count;
	for (unsigned i = 1; i < functions; i++)
		if (count[i] != count[0])
			return 0;
	return count[0];
}

static uint64_t slots_full(void)
{
	struct gpu_counts counts;

	gpu_kernel_counts(&stage.kernel, &counts);
	return counts.slots_full;
}

/* More functions in turn than a thread has remembered rows, and more than rows have slots: rows
 * without a slot are counted. */
START_TEST(in_turn)
{
	static const unsigned functions[] = {3, 500, GPU_SLOTS + 1000};
	uint64_t before = slots_full(), rows_without;

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		for (unsigned turn = 0; turn < 30; turn++)
			for (unsigned at = 0; at < functions[i]; at++)
				drv_launch(at + 1, 1, 1, 1, 1, 1, 1, 0, 0);
		look();
		ck_assert_uint_eq(times_each(functions[i]), 30);
		HAS_ROW(gpu_launch, LAUNCH, 30 * functions[i], 30 * functions[i]);
		ck_assert_uint_eq(drained.counters.values[COUNTER_gpu_launches], 30 * functions[i]);
		rows_without = 0;
		for (size_t row = 0; row < drained.gpu_count; row++)
			if (!drained.gpu_keys[row].stack && !drained.gpu_calls[row].slot)
				rows_without++;
		ck_assert_uint_eq(slots_full() - before, rows_without);
		ck_assert_int_eq(rows_without > 0, functions[i] > GPU_SLOTS);
		before += rows_without;
	}
}
END_TEST

enum { SHAPES = 6, NUMBERS = 5 };

static uint64_t launched_in(const unsigned shape[NUMBERS])
{
	uint64_t count = 0;

	for (size_t i = 0; i < drained.gpu_count; i++) {
		const struct gpu_call_key *key = &drained.gpu_keys[i];

		if (key->kind == KIND_gpu_launch && key->call == LAUNCH &&
		    !memcmp(key->grid, shape, sizeof(key->grid)) &&
		    !memcmp(key->block, shape + 3, 2 * sizeof(*shape)))
			count += drained.gpu_calls[i].count;
	}
	return count;
}

/* Calls that differ in one number are counted separately, also where the last calls are
 * remembered. */
START_TEST(alike)
{
	static const unsigned shapes[SHAPES][NUMBERS] = {{1, 1, 1, 1, 1}, {2, 1, 1, 1, 1},
	                                                 {1, 2, 1, 1, 1}, {1, 1, 2, 1, 1},
	                                                 {1, 1, 1, 2, 1}, {1, 1, 1, 1, 2}};

	for (int i = 0; i < 1000; i++) {
		for (const unsigned(*shape)[NUMBERS] = shapes; shape < shapes + SHAPES; shape++)
			drv_launch(7, (*shape)[0], (*shape)[1], (*shape)[2], (*shape)[3],
			           (*shape)[4], 1, 0, 0);
		drv_copy(1, 2, 5);
		drv_set(1, 0, 25);
		drv_launch_graph(7, 0);
	}
	look();
	for (int i = 0; i < SHAPES; i++)
		ck_assert_uint_eq(launched_in(shapes[i]), 1000);
	HAS_ROW(gpu_launch, LAUNCH, SHAPES * 1000, SHAPES * 1000);
	HAS_ROW(gpu_copy, COPY, 1000, 5000);
	HAS_ROW(gpu_copy, SET, 1000, 100000);
	HAS_ROW(gpu_launch, LAUNCH_GRAPH, 1000, 1000);
}
END_TEST

/* The highest number of calls that a slot holds and its row does not have yet. */
static uint64_t most_in_a_slot(void)
{
	const struct gpu_slot *slots = &stage.bpf.skeleton->bss->gpu_slots[0][0];
	uint64_t most = 0;

	for (size_t i = 0; i < HALVES * GPU_SLOTS; i++)
		if (slots[i].count > most)
			most = slots[i].count;
	return most;
}

/* More shapes than there are rows. Most calls are of shapes that get no row of their own, and these
 * are counted in a slot. */
START_TEST(crowded)
{
	uint64_t most = 0;

	for (unsigned i = 0; i < GPU_CALLS_ROWS * 2; i++) {
		drv_launch(5, i + 1, 1, 1, 1, 1, 1, 0, 0);
		if (i >= GPU_CALLS_ROWS && i % 500 == 0 && most_in_a_slot() > most)
			most = most_in_a_slot();
	}
	ck_assert_uint_gt(most, 10);
	look();
	HAS_ROW(gpu_launch, LAUNCH, GPU_CALLS_ROWS * 2, GPU_CALLS_ROWS * 2);
	ck_assert_uint_le(drained.gpu_count, GPU_CALLS_ROWS);
	ck_assert_uint_eq(drained.counters.values[COUNTER_gpu_launches_lost], 0);
	look();
	ck_assert_uint_eq(drained.gpu_count, 0);
}
END_TEST

/* More objects than there are rows: calls that are not counted are counted as lost. */
START_TEST(full)
{
	struct sum sum;

	for (unsigned i = 0; i < GPU_CALLS_ROWS + 100; i++)
		drv_launch(i + 1, 1, 1, 1, 1, 1, 1, 0, 0);
	look();
	sum = rows_of(KIND_gpu_launch, LAUNCH);
	ck_assert_uint_eq(drained.counters.values[COUNTER_gpu_launches], sum.count);
	ck_assert_uint_gt(drained.counters.values[COUNTER_gpu_launches_lost], 0);
	ck_assert_uint_eq(sum.count + drained.counters.values[COUNTER_gpu_launches_lost],
	                  GPU_CALLS_ROWS + 100);
}
END_TEST

/* Leaves no room for a stack in either half. */
static void fill_stacks(void)
{
	struct bpf_map *const maps[] = {stage.bpf.skeleton->maps.stacks_0,
	                                stage.bpf.skeleton->maps.stacks_1};

	for (int half = 0; half < HALVES; half++) {
		const struct stack_node node = {.len = 1};
		int fd = bpf_map__fd(maps[half]);

		for (uint64_t key = STACK_FIRST;; key++)
			if (bpf_map_update_elem(fd, &key, &node, BPF_NOEXIST))
				break;
		/* Otherwise the drain takes the map for empty, as no stack was counted. */
		stage.bpf.left[half] = true;
	}
}

/* A stack without room is walked again when the next walk is due, and not in each call. */
START_TEST(no_room_for_stacks)
{
	enum { TIMES = 20000 };
	struct gpu_counts before, after;

	fill_stacks();
	gpu_kernel_counts(&stage.kernel, &before);
	for (int i = 0; i < TIMES; i++)
		drv_launch(6, 1, 1, 1, 1, 1, 1, 0, 0);
	gpu_kernel_counts(&stage.kernel, &after);
	look();
	HAS_ROW(gpu_launch, LAUNCH, TIMES, TIMES);
	ck_assert_uint_eq(rows_of(KIND_gpu_launch, LAUNCH).call.stack, STACK_NONE);
	ck_assert_uint_gt(drained.counters.values[COUNTER_stacks_lost], 0);
	ck_assert_uint_lt(after.walked - before.walked, TIMES / 5);
	look(); /* the other half has room again */
}
END_TEST

/* Changes the user that the kernel half sees; all privileges stay. */
static void be(uid_t user)
{
	ck_assert_int_eq(setresuid(user, (uid_t)-1, (uid_t)-1), 0);
}

/* Causes events until one exceeds the user's share. Returns the number of accepted events. */
static unsigned tell_all(void)
{
	struct gpu_counts before, now;
	unsigned times = 0;

	gpu_kernel_counts(&stage.kernel, &before);
	do {
		drv_register(&times, 1 << 20, 0);
		times++;
		gpu_kernel_counts(&stage.kernel, &now);
		ck_assert_uint_eq(now.events_lost, before.events_lost);
		ck_assert_uint_lt(times, GPU_EVENT_BYTES / sizeof(struct gpu_event));
	} while (now.events_over_share == before.events_over_share);
	return times - 1;
}

/* The number of places that have lost events since `before`, and whether the user's place has. */
static int losers(const struct ring_user before[ACCOUNT_PLACES], uid_t user, bool *ret_has_lost)
{
	const struct hash_key key = gpu_kernel_hash_key(&stage.kernel);
	u32 place = account_place(&key, account_of(user));
	struct ring_user now[ACCOUNT_PLACES];
	int count = 0;

	ck_assert_int_eq(gpu_kernel_ring_users(&stage.kernel, now), 0);
	for (int at = 0; at < ACCOUNT_PLACES; at++)
		count += now[at].lost != before[at].lost;
	*ret_has_lost = now[place].lost != before[place].lost;
	return count;
}

/* A user that causes more events than are read leaves room for other users that have none yet, and
 * for root in any case. A user's subordinate ids have no share of their own. */
START_TEST(shares_of_the_ring)
{
	unsigned first, next = 0, roots;
	struct ring_user before[ACCOUNT_PLACES];
	uid_t user = MANY_USER;
	bool has_lost;

	ck_assert_int_eq(gpu_kernel_ring_users(&stage.kernel, before), 0);
	be(MANY_USER);
	first = tell_all();
	be(MANY_FIRST_SUBORDINATE + 5);
	ck_assert_uint_eq(tell_all(), 0);
	/* Only one account is recorded as having lost events. */
	ck_assert_int_eq(losers(before, MANY_USER, &has_lost), 1);
	ck_assert(has_lost);
	ck_assert_int_eq(losers(before, MANY_FIRST_SUBORDINATE + 5, &has_lost), 1);
	ck_assert(has_lost);
	/* Another user may be counted in the same place as the first one. */
	while (!next) {
		be(++user);
		next = tell_all();
	}
	while (user++ < MANY_USER + 40) {
		be(user);
		tell_all();
	}
	be(0);
	roots = tell_all();
	ck_assert_uint_gt(first, 1000);
	ck_assert_uint_ge(next, first / 3);
	ck_assert_uint_ge(roots, first / 10);
	look();
	ck_assert_uint_ge(drained.counters.values[COUNTER_gpu_allocations], first + next + roots);
	/* Events are accepted again once the ring buffer was read. */
	be(MANY_USER);
	ck_assert_uint_ge(tell_all(), first / 3);
	be(0);
	look();
}
END_TEST

TCase *many_case(void)
{
	TCase *tcase = tcase_create("many");

	tcase_add_test(tcase, none_is_lost);
	tcase_add_test(tcase, in_turn);
	tcase_add_test(tcase, alike);
	tcase_add_test(tcase, crowded);
	tcase_add_test(tcase, full);
	tcase_add_test(tcase, no_room_for_stacks);
	tcase_add_test(tcase, shares_of_the_ring);
	return tcase;
}
