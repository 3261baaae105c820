/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Passwords: hashes made by other programs, which results are remembered, and for how long. The
 * first hash is from the test vectors of bcrypt's first implementation, the second was made with
 * htpasswd's algorithm.
 */
#include "tests/unit/suites.h"

#include "access/passwords.h"
#include "base/clock.h"

#include <stdio.h>
#include <string.h>

#define ABC      "$2a$06$If6bvum7DFjUnE9p2uDeDu0YHzrHM6tf.iqN8.yx.jNN1ILEf7h0i"
#define SECRET   "$2b$04$V2nzWxZBrUCY12YY1ssH1u85MOLu9aBz5Pg4gMU5zE4aqUWtD7wPG"
#define SECRET_Y "$2y$04$V2nzWxZBrUCY12YY1ssH1u85MOLu9aBz5Pg4gMU5zE4aqUWtD7wPG"

static struct web_user users[] = {{"abc", ABC}, {"alice", SECRET}, {"yvonne", SECRET_Y}};
static const struct web_config three = {.users = users, .user_count = 3};
static const uint64_t start_ns = 5 * NSEC_PER_SEC;

static const struct {
	const char *user, *password;
	bool right;
} logins[] = {
	{"abc", "abc", true},        {"alice", "secret", true}, {"yvonne", "secret", true},
	{"abc", "abcd", false},      {"abc", "", false},        {"alice", "abc", false},
	{"alice", "Secret", false},  {"", "", false},           {"nobody", "abc", false},
	{"nobody", "secret", false},
};

START_TEST(each_login)
{
	_cleanup_(passwords_freep) struct passwords *passwords = passwords_new();
	struct password_check check;
	enum password_answer answer;
	const char *user = logins[_i].user, *password = logins[_i].password;

	answer = passwords_ask(passwords, &three, user, password, start_ns, &check);
	ck_assert_int_eq(answer, PASSWORD_TO_CHECK);
	ck_assert_int_eq(password_check_run(&check), 0);
	ck_assert_int_eq(check.right, logins[_i].right);
	passwords_tell(passwords, &check, start_ns);
	answer = passwords_ask(passwords, &three, user, password, start_ns, &check);
	ck_assert_int_eq(answer, logins[_i].right ? PASSWORD_RIGHT : PASSWORD_WRONG);
	/* The result is forgotten eventually. */
	answer = passwords_ask(passwords, &three, user, password, start_ns + 3600 * NSEC_PER_SEC,
	                       &check);
	ck_assert_int_eq(answer, PASSWORD_TO_CHECK);
}
END_TEST

/* A check for an unknown user costs as much as the most expensive one. */
START_TEST(unknown_users_cost_the_same)
{
	_cleanup_(passwords_freep) struct passwords *passwords = passwords_new();
	struct password_check check;

	passwords_ask(passwords, &three, "nobody", "x", start_ns, &check);
	ck_assert_str_eq(check.hash, ABC);
	ck_assert(!check.known);
}
END_TEST

START_TEST(another_hash_is_another_question)
{
	_cleanup_(passwords_freep) struct passwords *passwords = passwords_new();
	struct web_user changed[] = {{"alice", SECRET_Y}}, added[] = {{"nobody", ABC}};
	const struct web_config config = {.users = changed, .user_count = 1};
	const struct web_config with = {.users = added, .user_count = 1};
	struct password_check check;

	passwords_ask(passwords, &three, "alice", "secret", start_ns, &check);
	check.right = true;
	passwords_tell(passwords, &check, start_ns);
	ck_assert_int_eq(passwords_ask(passwords, &config, "alice", "secret", start_ns, &check),
	                 PASSWORD_TO_CHECK);
	/* A result for an unknown user does not hold once that user exists. */
	passwords_ask(passwords, &three, "nobody", "abc", start_ns, &check);
	passwords_tell(passwords, &check, start_ns);
	ck_assert_int_eq(passwords_ask(passwords, &three, "nobody", "abc", start_ns, &check),
	                 PASSWORD_WRONG);
	ck_assert_int_eq(passwords_ask(passwords, &with, "nobody", "abc", start_ns, &check),
	                 PASSWORD_TO_CHECK);
}
END_TEST

/* Wrong guesses, however many, do not push out the result of a right password. */
START_TEST(guesses_push_out_guesses)
{
	_cleanup_(passwords_freep) struct passwords *passwords = passwords_new();
	const uint64_t end_ns = start_ns + NSEC_PER_SEC;
	struct password_check check;
	char guess[32];

	passwords_ask(passwords, &three, "alice", "secret", start_ns, &check);
	check.right = true;
	passwords_tell(passwords, &check, start_ns);
	for (unsigned int i = 0; i < 3 * MAX_PASSWORDS_KNOWN; i++) {
		snprintf(guess, sizeof(guess), "guess %u", i);
		passwords_ask(passwords, &three, "alice", guess, start_ns + 1 + i, &check);
		passwords_tell(passwords, &check, start_ns + 1 + i);
	}
	ck_assert_int_eq(passwords_ask(passwords, &three, "alice", "secret", end_ns, &check),
	                 PASSWORD_RIGHT);
	ck_assert_int_eq(passwords_ask(passwords, &three, "alice", guess, end_ns, &check),
	                 PASSWORD_WRONG);
	ck_assert_int_eq(passwords_ask(passwords, &three, "alice", "guess 0", end_ns, &check),
	                 PASSWORD_TO_CHECK);
}
END_TEST

START_TEST(too_long)
{
	_cleanup_(passwords_freep) struct passwords *passwords = passwords_new();
	struct password_check check;
	char text[MAX_CREDENTIAL_BYTES + 1];

	memset(text, 'x', MAX_CREDENTIAL_BYTES);
	text[MAX_CREDENTIAL_BYTES] = '\0';
	ck_assert_int_eq(passwords_ask(passwords, &three, "", text, start_ns, &check),
	                 PASSWORD_WRONG);
	ck_assert_int_eq(passwords_ask(passwords, &three, text, "", start_ns, &check),
	                 PASSWORD_WRONG);
	ck_assert_int_eq(passwords_ask(passwords, &three, "", text + 1, start_ns, &check),
	                 PASSWORD_TO_CHECK);
}
END_TEST

Suite *passwords_suite(void)
{
	Suite *suite = suite_create("passwords");
	TCase *tests = tcase_create("passwords");

	tcase_add_loop_test(tests, each_login, 0, sizeof(logins) / sizeof(logins[0]));
	tcase_add_test(tests, unknown_users_cost_the_same);
	tcase_add_test(tests, another_hash_is_another_question);
	tcase_add_test(tests, guesses_push_out_guesses);
	tcase_add_test(tests, too_long);
	suite_add_tcase(suite, tests);
	return suite;
}
