/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct asked: the turns of accounts, and files that were not found, for one account or for
 * everybody.
 */
#include "fetch/asked.h"
#include "tests/unit/suites.h"

#include <stdio.h>

enum { ROOT = 0, ALICE = 1000, BOB = 1001, SOON = 10, LATER = 20 };

static struct want *next_of(struct asked *asked, const char *build_id, uint64_t account)
{
	struct want *want = asked_next(asked);

	ck_assert_ptr_nonnull(want);
	ck_assert_str_eq(want->key.build_id, build_id);
	ck_assert_uint_eq(want->key.account, account);
	return want;
}

START_TEST(turns)
{
	struct asked asked = {0};

	ck_assert_ptr_null(asked_next(&asked));
	asked_add(&asked, "a1", ALICE);
	asked_add(&asked, "a2", ALICE);
	asked_add(&asked, "a3", ALICE);
	asked_add(&asked, "a3", BOB);
	next_of(&asked, "a1", ALICE);
	asked_add(&asked, "a3", ROOT);
	asked_forget(&asked, next_of(&asked, "a3", BOB));
	next_of(&asked, "a2", ALICE);
	asked_forget(&asked, next_of(&asked, "a3", ROOT));
	ck_assert_ptr_null(asked_find(&asked, "a3", ROOT));
	ck_assert_ptr_nonnull(asked_find(&asked, "a3", ALICE));
	next_of(&asked, "a3", ALICE);
	ck_assert_ptr_null(asked_next(&asked));
	asked_release(&asked);
}
END_TEST

START_TEST(missing)
{
	struct asked asked = {0};

	asked_add(&asked, "a1", ALICE);
	asked_add(&asked, "a1", BOB);
	ck_assert(!asked_is_missing(&asked, "a1", ALICE, 0));
	asked_miss(&asked, asked_next(&asked), ALICE, SOON);
	ck_assert(asked_is_missing(&asked, "a1", ALICE, SOON - 1));
	ck_assert(!asked_is_missing(&asked, "a1", BOB, SOON - 1));
	ck_assert(!asked_is_missing(&asked, "a1", EVERYBODY, SOON - 1));
	/* Bob's failure changes nothing for Alice. */
	asked_miss(&asked, asked_next(&asked), BOB, LATER);
	ck_assert(asked_is_missing(&asked, "a1", ALICE, SOON - 1));
	ck_assert(!asked_is_missing(&asked, "a1", ALICE, SOON));
	ck_assert_ptr_null(asked_find(&asked, "a1", ALICE));
	ck_assert(asked_is_missing(&asked, "a1", BOB, SOON));
	asked_release(&asked);
}
END_TEST

START_TEST(missing_for_everybody)
{
	struct asked asked = {0};

	asked_add(&asked, "a1", ALICE);
	asked_add(&asked, "a1", BOB);
	asked_miss(&asked, asked_next(&asked), EVERYBODY, SOON);
	ck_assert_ptr_null(asked_find(&asked, "a1", ALICE));
	ck_assert_ptr_nonnull(asked_find(&asked, "a1", BOB));
	ck_assert(asked_is_missing(&asked, "a1", EVERYBODY, SOON - 1));
	/* The later time counts. */
	asked_miss(&asked, asked_next(&asked), EVERYBODY, LATER);
	ck_assert(asked_is_missing(&asked, "a1", EVERYBODY, SOON));
	ck_assert(!asked_is_missing(&asked, "a1", EVERYBODY, LATER));
	ck_assert_ptr_null(asked.wants);
}
END_TEST

/* Waiting requests are kept. Of the others the oldest is dropped. */
START_TEST(too_many)
{
	struct asked asked = {0};
	char build_id[16];

	for (unsigned int i = 0; i < 4096; i++) {
		snprintf(build_id, sizeof(build_id), "%x", i);
		asked_add(&asked, build_id, ALICE);
	}
	next_of(&asked, "0", ALICE);
	asked_miss(&asked, next_of(&asked, "1", ALICE), ALICE, LATER);
	asked_miss(&asked, next_of(&asked, "2", ALICE), EVERYBODY, LATER);
	asked_add(&asked, "aa00", BOB);
	ck_assert_ptr_nonnull(asked_find(&asked, "0", ALICE));
	ck_assert_ptr_null(asked_find(&asked, "1", ALICE));
	ck_assert_ptr_nonnull(asked_find(&asked, "2", EVERYBODY));
	ck_assert_uint_eq(HASH_COUNT(asked.wants), 4096);
	asked_release(&asked);
}
END_TEST

Suite *fetch_asked_suite(void)
{
	Suite *suite = suite_create("fetch_asked");
	TCase *tcase = tcase_create("all");

	tcase_add_test(tcase, turns);
	tcase_add_test(tcase, missing);
	tcase_add_test(tcase, missing_for_everybody);
	tcase_add_test(tcase, too_many);
	suite_add_tcase(suite, tcase);
	return suite;
}
