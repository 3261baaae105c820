/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The accounts to which subordinate ids belong.
 */
#include "base/accounts.h"

#include "base/shares.h"
#include "tests/unit/suites.h"

#include <string.h>

static const char subuid[] =
	"bert:165536:65536\n"
	"anna:100000:65536\n"
	"1003:300000:10\n"
	"ldap:400000:65536\n"
	"root:600000:65536\n"
	"broken\nx:y:z\nbert:1:\n:5:5x\nbert:4294967290:65536\nbert:500000:0\n";
static const char passwd[] = "root:x:0:0::/root:/bin/sh\nanna:x:1001:1001::/:/bin/sh\n"
			     "bertha:x:9:9::/:/bin/sh\nbert:x:1002:1002::/:/bin/sh\n";

static struct text text(const char *string)
{
	return text_of(string, strlen(string));
}

static void tear_down(void)
{
	accounts_clear();
}

START_TEST(subordinate_ids_are_those_of_one)
{
	accounts_set(text(subuid), text(passwd));
	ck_assert_uint_eq(account_of(0), 0);
	ck_assert_uint_eq(account_of(1001), 1001);
	ck_assert_uint_eq(account_of(99999), 99999);
	ck_assert_uint_eq(account_of(100000), 1001);
	ck_assert_uint_eq(account_of(165535), 1001);
	ck_assert_uint_eq(account_of(165536), 1002);
	ck_assert_uint_eq(account_of(231071), 1002);
	ck_assert_uint_eq(account_of(231072), 231072);
	ck_assert_uint_eq(account_of(300009), 1003);
	ck_assert_uint_eq(account_of(300010), 300010);
	/* These users have no entry in the password file, but each range is one account. */
	ck_assert_uint_eq(account_of(400005), 400000);
	ck_assert_uint_eq(account_of(500000), 500000);
	/* The users of a container that root started are one account, which is not root's. */
	ck_assert_uint_eq(account_of(600000), 600000);
	ck_assert_uint_eq(account_of(600005), 600000);
	ck_assert_uint_eq(account_of(UINT32_MAX), UINT32_MAX);
}
END_TEST

static void have_users(const char *users)
{
	accounts_set(text(""), text(users));
	accounts_trust(TRUST_PERSON);
}

START_TEST(a_single_person_is_trusted)
{
	have_users("root:x:0:0::/root:/bin/sh\nweb:x:33:33::/:\nanna:x:1001:1001::/:\n"
	           "nobody:x:65534:65534::/:\n");
	ck_assert(account_is_trusted(0));
	ck_assert(account_is_trusted(1001));
	ck_assert(!account_is_trusted(33));
	ck_assert(!account_is_trusted(1002));
	ck_assert(!account_is_trusted(65534));
	ck_assert(!account_is_trusted(UINT32_MAX));
	accounts_trust(TRUST_ROOT);
	ck_assert(account_is_trusted(0));
	ck_assert(!account_is_trusted(1001));
	accounts_trust(TRUST_EVERYBODY);
	ck_assert(account_is_trusted(33));
}
END_TEST

START_TEST(of_several_none_is_trusted)
{
	have_users("anna:x:1001:1001::/:\nbert:x:1002:1002::/:\n");
	ck_assert(account_is_trusted(0));
	ck_assert(!account_is_trusted(1001));
	ck_assert(!account_is_trusted(1002));
	/* Three are not one again. */
	have_users("anna:x:1001:1001::/:\nbert:x:1002:1002::/:\ncarl:x:59999:1::/:\n");
	ck_assert(!account_is_trusted(1001));
	ck_assert(!account_is_trusted(59999));
	have_users("");
	ck_assert(account_is_trusted(0));
	ck_assert(!account_is_trusted(1001));
	/* Two names of one user. */
	have_users("anna:x:1001:1001::/:\nanne:x:1001:1001::/:\nodd:x:y:1::/:\n");
	ck_assert(account_is_trusted(1001));
}
END_TEST

START_TEST(without_files_everybody_is_himself)
{
	accounts_set(text(""), text(""));
	ck_assert_uint_eq(account_of(100000), 100000);
	accounts_clear();
	ck_assert_uint_eq(account_of(100000), 100000);
	/* Files truncated anywhere are read as far as they go. */
	for (size_t len = 0; len < sizeof(subuid) - 1; len++) {
		accounts_set(text_of(subuid, len), text_of(passwd, len % sizeof(passwd)));
		ck_assert_uint_eq(account_of(0), 0);
	}
}
END_TEST

/* Twenty subordinate ids of a user together have only that user's share. */
START_TEST(one_account_has_one_share)
{
	struct shares shares = {.whole = 64};
	uint64_t taken = 0;

	accounts_set(text(subuid), text(passwd));
	for (uint32_t user = 100000; user < 100020; user++)
		while (shares_take(&shares, user, 1))
			taken++;
	while (shares_take(&shares, 1001, 1))
		taken++;
	ck_assert_uint_eq(taken, 32);
	ck_assert(shares_take(&shares, 165536, 1));
	ck_assert(shares_exceeded(&shares, 100007));
	shares_give(&shares, 100011, 32);
	ck_assert(!shares_exceeded(&shares, 1001));
	shares_clear(&shares);
}
END_TEST

Suite *accounts_suite(void)
{
	Suite *suite = suite_create("accounts");
	TCase *tests = tcase_create("accounts");

	tcase_add_checked_fixture(tests, NULL, tear_down);
	tcase_add_test(tests, subordinate_ids_are_those_of_one);
	tcase_add_test(tests, a_single_person_is_trusted);
	tcase_add_test(tests, of_several_none_is_trusted);
	tcase_add_test(tests, without_files_everybody_is_himself);
	tcase_add_test(tests, one_account_has_one_share);
	suite_add_tcase(suite, tests);
	return suite;
}
