/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Seats for growth: a user with many processes cannot make the kernel half forget the growth of
 * other users. Compiles the kernel half's own source together with the functions that it calls.
 */
#include "tests/bpf/suites.h"

#include <bpf/bpf_helpers.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A program's constants are set by the loader. Here tests set them, so they must not be const. */
#define const
#include "bpf/growth/growth_seats.bpf.c"
#include "bpf/maps.bpf.c"
#include "bpf/user.bpf.c"
#undef const

enum {
	SLOTS = 32 * 1024,
	ALIKE = SEAT_BUCKETS, /* pids this far apart have the same bucket of seats */
	SLOT_ALIKE = SLOTS / SLOTS_PER_BUCKET,
	HIM = 1000,
	HER = 1001,
	PID = 77,
};

static struct seat_bucket buckets[SEAT_BUCKETS];
static u64 known[SLOTS];
static struct counters counted[AT_COUNT];
static u32 current_user;
static u64 now_boot_ns;

static void *element(void *values, size_t size, size_t count, u32 at)
{
	return at < count ? (char *)values + at * size : NULL;
}

void *bpf_map_lookup_elem(void *map, const void *key)
{
	u32 at = *(const u32 *)key;

	if (map == &seats)
		return element(buckets, sizeof(*buckets), SEAT_BUCKETS, at);
	if (map == &unwind_slots)
		return element(known, sizeof(*known), SLOTS, at);
	if (map == &counters)
		return element(counted, sizeof(*counted), AT_COUNT, at);
	abort();
}

u64 bpf_get_current_uid_gid(void)
{
	return current_user;
}

u32 bpf_get_smp_processor_id(void)
{
	return 0;
}

u64 bpf_ktime_get_ns(void)
{
	return 0;
}

u64 bpf_ktime_get_boot_ns(void)
{
	return now_boot_ns;
}

static void set_up(void)
{
	memset(buckets, 0, sizeof(buckets));
	memset(known, 0, sizeof(known));
	memset(counted, 0, sizeof(counted));
	slot_count = SLOTS;
	hash_key = (struct hash_key){0x243f6a8885a308d3, 0x9e3779b97f4a7c15};
}

/* Makes the pid known to the walker; with value 0, unknown. */
static void know(u32 pid, u64 value)
{
	u64 *bucket = &known[pid * SLOTS_PER_BUCKET % SLOTS];
	u32 at = pid / SLOT_ALIKE % SLOTS_PER_BUCKET;

	bucket[at] = value;
}

static u64 who_is(u32 pid, u32 image)
{
	return (u64)pid << SEAT_PID_SHIFT | image;
}

/* Process `number`, of those that share one bucket, asks for a seat. */
static u32 comes(u32 user, u32 number)
{
	u32 pid = PID + number * ALIKE;

	know(pid, (u64)pid << SLOT_PID_SHIFT);
	current_user = user;
	return seat_of(who_is(pid, 1));
}

static void ends(u32 number)
{
	know(PID + number * ALIKE, 0);
}

static bool has_seat(u32 number, u32 seat)
{
	const struct seat_bucket *bucket = &buckets[seat / SEATS_PER_BUCKET];

	return bucket->who[seat % SEATS_PER_BUCKET] == who_is(PID + number * ALIKE, 1);
}

static u64 sum_of(enum counter counter)
{
	u64 sum = 0;

	for (u32 at = 0; at < AT_COUNT; at++)
		sum += counted[at].values[counter];
	return sum;
}

static u64 forgotten(void)
{
	return sum_of(COUNTER_growth_forgotten);
}

START_TEST(a_process_has_one_seat)
{
	u32 first = comes(HIM, 0), second = comes(HIM, 1);

	ck_assert_uint_lt(first, GROWTH_SEATS);
	ck_assert_uint_lt(second, GROWTH_SEATS);
	ck_assert_uint_ne(first, second);
	for (int i = 0; i < 3; i++) {
		ck_assert_uint_eq(comes(HIM, 0), first);
		ck_assert_uint_eq(comes(HIM, 1), second);
	}
	/* Also if the process runs another program. */
	ck_assert_uint_eq(seat_of(who_is(PID, 2)), first);
	ck_assert_uint_eq(seat_of(who_is(PID + 1, 1)) / SEATS_PER_BUCKET, (PID + 1) % SEAT_BUCKETS);
	ck_assert_uint_eq(forgotten(), 0);
}
END_TEST

START_TEST(who_has_ended_gives_way)
{
	u32 seat[SEATS_PER_BUCKET];

	for (u32 i = 0; i < SEATS_PER_BUCKET; i++)
		seat[i] = comes(HIM, i);
	ends(5);
	ck_assert_uint_eq(comes(HER, SEATS_PER_BUCKET), seat[5]);
	ck_assert_uint_eq(forgotten(), 0);
	for (u32 i = 0; i < SEATS_PER_BUCKET; i++)
		ck_assert(i == 5 || has_seat(i, seat[i]));
}
END_TEST

START_TEST(who_has_most_gives_way)
{
	u32 hers, roots, seat;

	for (u32 i = 0; i < SEATS_PER_BUCKET; i++)
		comes(HIM, i);
	hers = comes(HER, 8);
	roots = comes(0, 9);
	ck_assert_uint_lt(hers, GROWTH_SEATS);
	ck_assert_uint_lt(roots, GROWTH_SEATS);
	ck_assert_uint_ne(hers, roots);
	ck_assert_uint_eq(forgotten(), 2);
	for (u32 i = 10; i < 30; i++) {
		ck_assert_uint_eq(comes(HIM, i), SEAT_NONE);
		ck_assert(has_seat(8, hers));
		ck_assert(has_seat(9, roots));
	}
	ck_assert_uint_eq(forgotten(), 2);
	ck_assert_uint_eq(sum_of(COUNTER_growth_refused), 20);
	/* If both users have the same number of seats, neither takes one from the other. */
	for (u32 i = 20; i < 30; i++)
		comes(HER, i);
	seat = comes(HIM, 10);
	ck_assert_uint_eq(seat, SEAT_NONE);
	ck_assert_uint_eq(forgotten(), 4);
}
END_TEST

/* A process may be the one whose seat was taken only if it began before that happened. */
START_TEST(what_was_forgotten_is_known)
{
	now_boot_ns = 100;
	for (u32 i = 0; i < SEATS_PER_BUCKET; i++)
		comes(HIM, i);
	ends(5);
	comes(HER, 8);
	ck_assert(!seat_forgot_since(who_is(PID, 1), 1));
	now_boot_ns = 200;
	comes(0, 9);
	ck_assert_uint_eq(forgotten(), 1);
	ck_assert(seat_forgot_since(who_is(PID, 1), 199));
	ck_assert(!seat_forgot_since(who_is(PID, 1), 201));
	ck_assert(!seat_forgot_since(who_is(PID + 1, 1), 1));
}
END_TEST

START_TEST(one_thread_begins)
{
	u64 of = who_is(PID, 1), who = who_is(PID, 2);

	ck_assert(seat_begins(&of, who));
	ck_assert(!seat_is_of(&of, who));
	ck_assert(!seat_begins(&of, who));
	seat_has_begun(&of, who);
	ck_assert(seat_is_of(&of, who));
	ck_assert(!seat_begins(&of, who));
}
END_TEST

Suite *growth_seats_suite(void)
{
	Suite *suite = suite_create("growth_seats");
	TCase *tcase = tcase_create("growth_seats");

	tcase_add_checked_fixture(tcase, set_up, NULL);
	tcase_add_test(tcase, a_process_has_one_seat);
	tcase_add_test(tcase, who_has_ended_gives_way);
	tcase_add_test(tcase, who_has_most_gives_way);
	tcase_add_test(tcase, what_was_forgotten_is_known);
	tcase_add_test(tcase, one_thread_begins);
	suite_add_tcase(suite, tcase);
	return suite;
}
