/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct aliases: whose entries are dropped when the table is full.
 */
#include "object/aliases.h"
#include "tests/unit/suites.h"

#include <string.h>

enum { ALICE = 1000, BOB = 1001, MAX = 100 };

static struct aliases aliases;

static void set_up(void)
{
	memset(&aliases, 0, sizeof(aliases));
	aliases.max = MAX;
}

static void tear_down(void)
{
	aliases_clear(&aliases);
	ck_assert_ptr_null(aliases.by_user);
}

static struct alias_name name_of(uint64_t number)
{
	return (struct alias_name){.kind = ALIAS_KEY, .words = {number}};
}

static void add(uint32_t user, uint32_t number)
{
	const struct alias_name name = name_of(number);
	const struct stamp stamp = {.inode = number};

	aliases_add(&aliases, user, &name, number, &stamp, number);
	ck_assert_uint_le(HASH_COUNT(aliases.by_name), MAX);
}

static uint32_t id_of(uint32_t number)
{
	const struct alias_name name = name_of(number);
	const struct alias *alias = aliases_find(&aliases, &name);

	return alias ? alias->id : 0;
}

START_TEST(a_name_means_what_was_added_last)
{
	const struct alias_name none = {0}, name = name_of(1);
	const struct stamp stamp = {.inode = 9};

	add(ALICE, 1);
	ck_assert_uint_eq(id_of(1), 1);
	aliases_add(&aliases, BOB, &name, 2, &stamp, 7);
	ck_assert_uint_eq(id_of(1), 2);
	ck_assert_uint_eq(aliases_find(&aliases, &name)->added_ns, 7);
	ck_assert_uint_eq(aliases_find(&aliases, &name)->stamp.inode, 9);
	ck_assert_uint_eq(HASH_COUNT(aliases.by_name), 1);
	aliases_add(&aliases, ALICE, &none, 3, &stamp, 0);
	ck_assert_ptr_null(aliases_find(&aliases, &none));
	aliases_drop(&aliases, aliases_find(&aliases, &name));
	ck_assert_uint_eq(id_of(1), 0);
}
END_TEST

START_TEST(a_user_with_many_loses_those_used_longest_ago)
{
	for (uint32_t number = 1; number <= MAX; number++)
		add(ALICE, number);
	ck_assert_uint_eq(id_of(1), 1);
	add(ALICE, 2);
	add(ALICE, MAX + 1);
	add(ALICE, MAX + 2);
	ck_assert_uint_eq(id_of(3), 0);
	ck_assert_uint_eq(id_of(4), 0);
	ck_assert_uint_eq(id_of(1), 1);
	ck_assert_uint_eq(id_of(2), 2);
	ck_assert_uint_eq(id_of(5), 5);
	ck_assert_uint_eq(id_of(MAX + 2), MAX + 2);
}
END_TEST

/* Whoever came first. */
START_TEST(others_keep_theirs)
{
	const uint32_t first = 1000 * MAX;

	for (uint32_t number = first; number < first + MAX / 4; number++)
		add(BOB, number);
	for (uint32_t number = 1; number <= 10 * MAX; number++)
		add(ALICE, number);
	for (uint32_t number = first + MAX / 4; number < first + MAX / 2; number++)
		add(BOB, number);
	for (uint32_t number = first; number < first + MAX / 2; number++)
		ck_assert_uint_eq(id_of(number), number);
	ck_assert_uint_eq(id_of(10 * MAX), 10 * MAX);
}
END_TEST

Suite *aliases_suite(void)
{
	Suite *suite = suite_create("aliases");
	TCase *tcase = tcase_create("aliases");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, a_name_means_what_was_added_last);
	tcase_add_test(tcase, a_user_with_many_loses_those_used_longest_ago);
	tcase_add_test(tcase, others_keep_theirs);
	suite_add_tcase(suite, tcase);
	return suite;
}
