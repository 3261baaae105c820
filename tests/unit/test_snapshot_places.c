/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which snapshots are made at once, which have to wait, and in which order those follow.
 */
#include "tests/unit/suites.h"

#include "collect/snapshot_places.h"

#include <errno.h>
#include <stdlib.h>

enum { HIM = 1000, HER = 1001 };

static struct snapshot_places places;
static struct snapshot_place his[200];

static void set_up(void)
{
	snapshot_places_init(&places);
}

static void tear_down(void)
{
	snapshot_places_release(&places);
}

/* All processes of HIM are killed. Returns how many of their snapshots get this answer. */
static size_t kill_his(int answer)
{
	size_t count = 0;

	for (size_t i = 0; i < 200; i++) {
		his[i] = (struct snapshot_place){.owner = HIM};
		count += snapshot_places_ask(&places, &his[i]) == answer;
	}
	return count;
}

START_TEST(a_storm_leaves_places)
{
	struct snapshot_place hers = {.owner = HER}, roots[2] = {0};
	size_t begun = kill_his(0);

	ck_assert_uint_ge(begun, MAX_SNAPSHOTS / 4);
	ck_assert_uint_le(begun, MAX_SNAPSHOTS / 2);
	ck_assert_int_eq(snapshot_places_ask(&places, &hers), 0);
	ck_assert_int_eq(snapshot_places_ask(&places, &roots[0]), 0);
	/* Other users with many killed processes leave places to root, too. */
	for (uint32_t user = HER + 1; user < HER + 100; user++) {
		struct snapshot_place *place = calloc(1, sizeof(*place));

		place->owner = user;
		if (snapshot_places_ask(&places, place) != -EINPROGRESS)
			free(place);
	}
	ck_assert_int_eq(snapshot_places_ask(&places, &roots[1]), 0);
	for (struct snapshot_place *place; (place = snapshot_places_forget(&places));)
		if (place->owner > HER)
			free(place);
}
END_TEST

START_TEST(who_is_put_off_follows_in_turn)
{
	struct snapshot_place hers = {.owner = HER};
	size_t begun = kill_his(0), ended = 0;

	ck_assert_ptr_null(snapshot_places_next(&places));
	/* HER's snapshot does not wait for those of HIM that wait. */
	ck_assert_int_eq(snapshot_places_ask(&places, &hers), 0);
	snapshot_places_leave(&places, &hers);
	while (ended < begun) {
		snapshot_places_leave(&places, &his[ended++]);
		for (struct snapshot_place *next; (next = snapshot_places_next(&places));)
			ck_assert_ptr_eq(next, &his[begun++]);
	}
	ck_assert_uint_ge(ended, MAX_SNAPSHOTS / 4 + MAX_PUT_OFF / 4);
	ck_assert_uint_eq(places.under_way.taken, 0);
	ck_assert_uint_eq(places.put_off.taken, 0);
	ck_assert_ptr_null(snapshot_places_forget(&places));
}
END_TEST

START_TEST(who_waits_may_be_forgotten)
{
	size_t put_off = kill_his(-EINPROGRESS), forgotten = 0;

	while (snapshot_places_forget(&places))
		forgotten++;
	ck_assert_uint_ge(put_off, MAX_PUT_OFF / 4);
	ck_assert_uint_eq(forgotten, put_off);
	ck_assert_uint_eq(places.put_off.taken, 0);
	/* Later snapshots have to wait again. */
	ck_assert_uint_eq(kill_his(-EINPROGRESS), put_off);
	while (snapshot_places_forget(&places))
		;
}
END_TEST

Suite *snapshot_places_suite(void)
{
	Suite *suite = suite_create("snapshot_places");
	TCase *tests = tcase_create("all");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, a_storm_leaves_places);
	tcase_add_test(tests, who_is_put_off_follows_in_turn);
	tcase_add_test(tests, who_waits_may_be_forgotten);
	suite_add_tcase(suite, tests);
	return suite;
}
