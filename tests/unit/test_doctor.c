/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How profd doctor reports its findings, and the parts of its checks that do not depend on the
 * host.
 */
#include "tests/unit/suites.h"

#include "doctor/host.h"

#include <jansson.h>
#include <linux/capability.h>
#include <string.h>

static const struct {
	const char *said, *shown;
} texts[] = {
	{"plain", "plain"},
	{"\x1b[31mred\nline\r\t\x7f", "?[31mred?line???"},
	{"\xc3\xa9 \xe2\x82\xac", "\xc3\xa9 \xe2\x82\xac"},
	{"\xc2\x9b"
         "31m",
         "??31m"}, /* CSI as one character */
	{"\xff\xc3", "??"},
	{"%s%n", "%s%n"},
};

START_TEST(text_is_for_terminals)
{
	struct finding finding = {.check = "x"};

	finding_good(&finding, "%s", texts[_i].said);
	ck_assert_str_eq(finding.value, texts[_i].shown);
	finding_bad(&finding, FINDING_missing, texts[_i].said, "%s", texts[_i].said);
	ck_assert_str_eq(finding.value, texts[_i].shown);
	ck_assert_str_eq(finding.fix, texts[_i].shown);
}
END_TEST

START_TEST(long_text_is_cut)
{
	struct finding finding = {.check = "x"};
	char text[2 * FINDING_VALUE_BYTES];

	/* The last character that fits is divided. */
	memset(text, 'a', sizeof(text));
	memcpy(text + FINDING_VALUE_BYTES - 2, "\xc3\xa9", 2);
	text[sizeof(text) - 1] = '\0';
	finding_good(&finding, "%s", text);
	ck_assert_uint_eq(strlen(finding.value), FINDING_VALUE_BYTES - 1);
	ck_assert_int_eq(finding.value[FINDING_VALUE_BYTES - 2], '?');
}
END_TEST

static const struct finding some[] = {
	{"one", true, FINDING_good, "fine", ""},
	{"two", true, FINDING_limited, "less \"of\" it", "Do so"},
	{"three", false, FINDING_missing, "none", "Do that"},
	{"four", true, FINDING_unknown, "cannot tell", "Ask"},
};

enum { SOME = sizeof(some) / sizeof(some[0]) };

START_TEST(only_what_is_needed_fails)
{
	struct finding missing = some[2];

	ck_assert_int_eq(findings_status(some, SOME), 0);
	ck_assert_int_eq(findings_status(some, 0), 0);
	missing.needed = true;
	ck_assert_int_eq(findings_status(&missing, 1), 1);
}
END_TEST

START_TEST(a_line_each)
{
	_cleanup_(buf_release) struct buf out = BUF_INIT;

	findings_text(some, SOME, &out);
	ck_assert_str_eq(buf_text(&out), "good     one                fine\n"
	                                 "limited  two                less \"of\" it. Do so\n"
	                                 "missing  three              none. Do that\n"
	                                 "unknown  four               cannot tell. Ask\n");
}
END_TEST

START_TEST(json_says_the_same)
{
	_cleanup_(buf_release) struct buf out = BUF_INIT;
	json_t *list, *two;

	ck_assert_int_eq(findings_json(some, SOME, &out), 0);
	list = json_loads(buf_text(&out), 0, NULL);
	ck_assert_uint_eq(json_array_size(list), SOME);
	two = json_array_get(list, 1);
	ck_assert_str_eq(json_string_value(json_object_get(two, "check")), "two");
	ck_assert_str_eq(json_string_value(json_object_get(two, "state")), "limited");
	ck_assert_str_eq(json_string_value(json_object_get(two, "value")), "less \"of\" it");
	ck_assert_str_eq(json_string_value(json_object_get(two, "fix")), "Do so");
	ck_assert(json_is_null(json_object_get(json_array_get(list, 0), "fix")));
	json_decref(list);
}
END_TEST

static const struct {
	const char *line, *chosen;
} lockdowns[] = {
	{"[none] integrity confidentiality", "none"},
	{"none [integrity] confidentiality", "integrity"},
	{"none integrity", ""},
	{"", ""},
	{"[", ""},
	{"]none[", ""},
	{"[a very long word that no kernel has ever said]", "a very long word that no kernel"},
};

START_TEST(reads_lockdown)
{
	char chosen[32];

	lockdown_chosen(lockdowns[_i].line, chosen);
	ck_assert_str_eq(chosen, lockdowns[_i].chosen);
}
END_TEST

/* The capabilities have the kernel's numbers. */
START_TEST(counts_capabilities)
{
	const uint64_t all = 1ULL << CAP_BPF | 1ULL << CAP_PERFMON | 1ULL << CAP_SYS_PTRACE |
	                     1ULL << CAP_DAC_READ_SEARCH | 1ULL << CAP_SYSLOG |
	                     1ULL << CAP_CHECKPOINT_RESTORE;
	const uint64_t admin = 1ULL << CAP_SYS_ADMIN;

	for (int i = 0; i < HOST_CAPABILITY_COUNT; i++) {
		ck_assert(capability_in(all, (enum host_capability)i));
		ck_assert(!capability_in(~all & ~admin, (enum host_capability)i));
	}
	ck_assert(capability_in(admin, HOST_CAP_BPF));
	ck_assert(capability_in(admin, HOST_CAP_PERFMON));
	ck_assert(capability_in(admin, HOST_CAP_CHECKPOINT_RESTORE));
	ck_assert(!capability_in(admin, HOST_CAP_SYS_PTRACE));
	ck_assert(!capability_in(admin, HOST_CAP_SYSLOG));
	ck_assert(!capability_in(admin, HOST_CAP_DAC_READ_SEARCH));
}
END_TEST

static const struct {
	const char *level;
	bool forbids;
} paranoias[] = {
	{"-1", false}, {"0", false}, {"1", false}, {"2", false}, {"3", true}, /* Debian's */
	{"4", true},                                                          /* Ubuntu's */
	{"", false},   {"x", false},
};

START_TEST(only_levels_above_the_kernels_forbid)
{
	const uint64_t admin = 1ULL << CAP_SYS_ADMIN;

	ck_assert_int_eq(paranoia_forbids(paranoias[_i].level, ~admin), paranoias[_i].forbids);
	ck_assert(!paranoia_forbids(paranoias[_i].level, admin));
}
END_TEST

Suite *doctor_suite(void)
{
	Suite *suite = suite_create("doctor");
	TCase *tests = tcase_create("findings");

	tcase_add_loop_test(tests, text_is_for_terminals, 0, sizeof(texts) / sizeof(texts[0]));
	tcase_add_test(tests, long_text_is_cut);
	tcase_add_test(tests, only_what_is_needed_fails);
	tcase_add_test(tests, a_line_each);
	tcase_add_test(tests, json_says_the_same);
	tcase_add_loop_test(tests, reads_lockdown, 0, sizeof(lockdowns) / sizeof(lockdowns[0]));
	tcase_add_test(tests, counts_capabilities);
	tcase_add_loop_test(tests, only_levels_above_the_kernels_forbid, 0,
	                    sizeof(paranoias) / sizeof(paranoias[0]));
	suite_add_tcase(suite, tests);
	return suite;
}
