/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Readable forms of mangled names, from a reader process that may die over a name, or give no
 * answer or an invalid one. The other names are not affected.
 */
#include "names/readable.h"

#include "base/bounds.h"
#include "base/clock.h"
#include "tests/unit/elf_image.h"
#include "tests/unit/mortal.h"
#include "tests/unit/names_asked.h"
#include "tests/unit/names_fixture.h"
#include "tests/unit/suites.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MANY = 5000 };

static struct names_client *client;
static char texts[MANY][32];
static const char *names[MANY];
static struct readable readable;

static void set_up(void)
{
	client = client_of_self();
	for (size_t i = 0; i < MANY; i++) {
		snprintf(texts[i], sizeof(texts[i]), "_Z5f%04zui", i);
		names[i] = texts[i];
	}
}

static void tear_down(void)
{
	readable_release(&readable);
	names_client_free(client);
}

static void ask(size_t count)
{
	readable_release(&readable);
	ck_assert_int_eq(names_client_readable(client, names, count, &readable), 0);
	ck_assert_uint_eq(readable.count, count);
}

/* All of names[from] to names[to - 1] were made readable, except for two. */
static void expect_but(size_t from, size_t to, size_t one, size_t other)
{
	char expected[32];

	for (size_t i = from; i < to; i++) {
		const char *text = readable_text(&readable, i);

		snprintf(expected, sizeof(expected), "f%04zu(int)", i);
		if (i == one || i == other)
			ck_assert_ptr_null(text);
		else
			ck_assert_msg(text && !strcmp(text, expected), "%zu: %s", i,
			              text ? text : "NULL");
	}
}

START_TEST(few)
{
	static const char *const some[] = {"main", "_ZN3foo3barEi", "", "_Zfoo", "_Z1fv", "_Z1fv"};

	ck_assert_int_eq(names_client_readable(client, some, 6, &readable), 0);
	ck_assert_ptr_null(readable_text(&readable, 0));
	ck_assert_str_eq(readable_text(&readable, 1), "foo::bar(int)");
	ck_assert_ptr_null(readable_text(&readable, 2));
	ck_assert_ptr_null(readable_text(&readable, 3));
	ck_assert_str_eq(readable_text(&readable, 4), "f()");
	ck_assert_str_eq(readable_text(&readable, 5), "f()");
	ck_assert_ptr_null(readable_text(&readable, 6));
	ck_assert_uint_eq(stats_of(client).requests, 1);
	/* No request is made for an empty list, nor for names that are not mangled. */
	readable_release(&readable);
	ck_assert_int_eq(names_client_readable(client, NULL, 0, &readable), 0);
	readable_release(&readable);
	ck_assert_int_eq(names_client_readable(client, some, 1, &readable), 0);
	ck_assert_uint_eq(stats_of(client).requests, 1);
}
END_TEST

START_TEST(many)
{
	ask(MANY);
	expect_but(0, MANY, MANY, MANY);
	ck_assert_uint_eq(stats_of(client).requests, 5);
	ck_assert_uint_eq(stats_of(client).starts, 1);
	ck_assert_uint_eq(stats_of(client).mangled_failed, 0);
}
END_TEST

/* An answer has its maximum size; the rest comes with the next answer. */
START_TEST(long_ones)
{
	static const char parts[] = "S_IS1_S1_ES_IS2_S2_ES_IS3_S3_ES_IS4_S4_ES_IS5_S5_ES_IS6_S6_E";
	static char mangled[300][128];

	names_client_free(client);
	client = names_client_new(READER_SELF, 32 << 20);
	for (size_t i = 0; i < 300; i++) {
		snprintf(mangled[i], sizeof(mangled[i]), "_Z5f%04zuSt4pairIiiES_IS0_S0_E%s", i,
		         parts);
		names[i] = mangled[i];
	}
	ask(300);
	for (size_t i = 0; i < 300; i++) {
		const char *text = readable_text(&readable, i);
		ck_assert_ptr_nonnull(text);
		ck_assert_int_eq(strncmp(text, mangled[i] + strlen("_Z5"), strlen("f0000")), 0);
		ck_assert_uint_gt(strlen(text), 5000);
	}
	/* Each answer has at most 2 MiB. */
	ck_assert_uint_ge(stats_of(client).requests, 2);
	ck_assert_uint_eq(stats_of(client).crashes, 0);
}
END_TEST

/* Names that are not asked about are counted, and so are names without an answer. */
START_TEST(left)
{
	static char too_long[MAX_SYMBOL_NAME_BYTES + 1] = "_Z1fv";

	memset(too_long + strlen(too_long), 'i', MAX_SYMBOL_NAME_BYTES - strlen(too_long));
	names[3] = too_long;
	ask(10);
	expect_but(0, 10, 3, 3);
	ck_assert_uint_eq(stats_of(client).mangled_left, 1);
	/* A name without a readable form is an answer, too; and a text that is no mangled name. */
	names[3] = "_Zfoo";
	names[4] = "main";
	ask(10);
	expect_but(5, 10, MANY, MANY);
	ck_assert_uint_eq(stats_of(client).mangled_left, 1);
	names_client_cancel(client);
	ask(10);
	ck_assert_ptr_null(readable_text(&readable, 9));
	ck_assert_uint_eq(stats_of(client).mangled_left, 1 + 9);
}
END_TEST

/* The answers of one call take a fourth of the process's memory at most, give or take one
 * answer. */
START_TEST(too_much)
{
	static char mangled[2000][160];
	size_t told = 0;

	names_client_free(client);
	client = names_client_new(READER_SELF, 16 << 20);
	for (size_t i = 0; i < 2000; i++) {
		snprintf(mangled[i], sizeof(mangled[i]),
		         "_Z5f%04zuSt4pairIiiES_IS0_S0_E"
		         "S_IS1_S1_ES_IS2_S2_ES_IS3_S3_ES_IS4_S4_ES_IS5_S5_ES_IS6_S6_E",
		         i);
		names[i] = mangled[i];
	}
	ask(2000);
	for (size_t i = 0; i < 2000; i++)
		told += readable_text(&readable, i) != NULL;
	ck_assert_uint_gt(told, 100);
	ck_assert_uint_lt(told, 1900);
	ck_assert_uint_eq(stats_of(client).mangled_left, 2000 - told);
}
END_TEST

START_TEST(deadly)
{
	struct names_stats stats;

	names[1500] = "_Z" MORTAL_NAME "i";
	names[4999] = "_Z" MORTAL_NAME "v";
	ask(MANY);
	expect_but(0, MANY, 1500, 4999);
	stats = stats_of(client);
	ck_assert_uint_eq(stats.mangled_failed, 2);
	ck_assert_uint_eq(stats.mangled_left, 0);
	/* No file is to blame. */
	ck_assert_uint_eq(stats.files_failed, 0);
	/* The names are not asked about again. */
	ask(MANY);
	expect_but(0, MANY, 1500, 4999);
	ck_assert_uint_eq(stats_of(client).mangled_failed, 2);
	ck_assert_uint_eq(stats_of(client).crashes, stats.crashes);
}
END_TEST

START_TEST(endless)
{
	uint64_t begun = clock_mono_ns();

	names[100] = "_Z" ENDLESS_NAME "v";
	names_client_deadline(client, NSEC_PER_SEC);
	ask(200);
	expect_but(0, 200, 100, 100);
	ck_assert_uint_ge(clock_mono_ns() - begun, 2 * NSEC_PER_SEC);
	ck_assert_uint_eq(stats_of(client).mangled_failed, 1);
	ck_assert_uint_eq(stats_of(client).crashes, 2);
	begun = clock_mono_ns();
	ask(200);
	expect_but(0, 200, 100, 100);
	ck_assert_uint_lt(clock_mono_ns() - begun, NSEC_PER_SEC);
}
END_TEST

/* A client whose names are all deadly does not make the process die without end. */
START_TEST(deadly_all)
{
	struct names_stats stats;

	for (size_t i = 0; i < 100; i++) {
		snprintf(texts[i], sizeof(texts[i]), "_ZN" MORTAL_NAME "5f%04zuEv", i);
		ck_assert_ptr_eq(names[i], texts[i]);
	}
	ask(100);
	for (size_t i = 0; i < 100; i++)
		ck_assert_ptr_null(readable_text(&readable, i));
	stats = stats_of(client);
	ck_assert_uint_eq(stats.mangled_failed, 8);
	ck_assert_uint_eq(stats.mangled_left, 100 - 8);
	ck_assert_uint_le(stats.crashes, 2 * 9);
	for (int i = 0; i < 40; i++)
		ask(100);
	ck_assert_uint_eq(stats_of(client).mangled_failed, 100);
	/* Names of other clients are made readable. */
	names[0] = "_Z1fv";
	ask(100);
	ck_assert_str_eq(readable_text(&readable, 0), "f()");
}
END_TEST

START_TEST(of_a_file)
{
	static const uint64_t addresses[] = {0x401010, 0x401045, 0x401046};
	static const struct {
		const char *function, *readable;
	} expected[] = {{"_ZN3foo3barEi", "foo::bar(int)"}, {"_Z4diesiiiiii", NULL}};

	for (uint64_t i = 0; i < 2; i++) {
		struct told_frames told = {0};
		struct elf_image image;

		elf_image_init(&image, 1);
		memcpy(memmem(image.names, sizeof(image.names), "_ZN", 3), expected[i].function,
		       strlen(expected[i].function));
		_cleanup_close_ int fd = elf_image_fd(&image, sizeof(image));
		const struct names_query query = {.file = i + 1,
		                                  .fds = {fd, -1, -1},
		                                  .addresses = addresses,
		                                  .count = 3,
		                                  .lines = true};
		ck_assert_int_eq(names_client_find(client, &query, tell_frame, &told), 0);
		ck_assert_uint_eq(told.count, 3);
		ck_assert_str_eq(told.items[0].function, "plain");
		ck_assert_ptr_null(told.items[0].readable);
		for (int at = 1; at <= 2; at++) {
			ck_assert_str_eq(told.items[at].function, expected[i].function);
			if (expected[i].readable)
				ck_assert_str_eq(told.items[at].readable, expected[i].readable);
			else
				ck_assert_ptr_null(told.items[at].readable);
		}
		told_frames_release(&told);
	}
	ck_assert_uint_eq(stats_of(client).mangled_failed, 1);
	ck_assert_uint_eq(stats_of(client).files_failed, 0);
}
END_TEST

#define HELLO   "head -c 16 /dev/zero >&3\n"
#define REQUEST "head -c 22 <&3 >/dev/null\n" /* header and "_Z1fv" */
/* The header of an answer without error, of that many bytes (in octal). */
#define ANSWER(len) "head -c 8 /dev/zero >&3; printf '" len "\\0\\0\\0\\0\\0\\0\\0' >&3\n"
#define FOREVER     "exec sleep 1000\n"

/* Scripts in place of the reader process. */
static const struct {
	const char *script, *readable;
	uint64_t failed, left;
} takeovers[] = {
	{"exit 0\n", NULL, 0, 1},
	{HELLO, NULL, 1, 0},
	{HELLO REQUEST ANSWER("\\4") "printf 'f()\\0' >&3\n" FOREVER, "f()", 0, 0},
	{HELLO REQUEST ANSWER("\\1") "printf '\\0' >&3\n" FOREVER, NULL, 0, 0},
	{HELLO REQUEST ANSWER("\\0") FOREVER, NULL, 1, 0},
	{HELLO REQUEST ANSWER("\\3") "printf 'f()' >&3\n" FOREVER, NULL, 1, 0},
	{HELLO REQUEST ANSWER("\\4") "printf 'f\\0g\\0' >&3\n" FOREVER, NULL, 1, 0},
	{HELLO REQUEST ANSWER("\\377\\377\\1") FOREVER, NULL, 1, 0},
};

START_TEST(taken_over)
{
	static const char *const name = "_Z1fv";
	char path[] = "/tmp/profd-readable-XXXXXX";
	FILE *file = fdopen(mkstemp(path), "w");

	fprintf(file, "#!/bin/sh\n%s", takeovers[_i].script);
	ck_assert_int_eq(fchmod(fileno(file), 0700), 0);
	fclose(file);
	names_client_free(client);
	client = names_client_new(path, 64 << 20);
	names_client_deadline(client, 2 * NSEC_PER_SEC);
	ck_assert_int_eq(names_client_readable(client, &name, 1, &readable), 0);
	unlink(path);
	if (takeovers[_i].readable)
		ck_assert_str_eq(readable_text(&readable, 0), takeovers[_i].readable);
	else
		ck_assert_ptr_null(readable_text(&readable, 0));
	ck_assert_uint_eq(stats_of(client).mangled_failed, takeovers[_i].failed);
	ck_assert_uint_eq(stats_of(client).mangled_left, takeovers[_i].left);
}
END_TEST

Suite *readable_suite(void)
{
	Suite *suite = suite_create("readable");
	TCase *tcase = tcase_create("readable");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, few);
	tcase_add_test(tcase, many);
	tcase_add_test(tcase, long_ones);
	tcase_add_test(tcase, left);
	tcase_add_test(tcase, too_much);
	tcase_add_test(tcase, deadly);
	tcase_add_test(tcase, endless);
	tcase_add_test(tcase, deadly_all);
	tcase_add_test(tcase, of_a_file);
	tcase_add_loop_test(tcase, taken_over, 0, sizeof(takeovers) / sizeof(takeovers[0]));
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return suite;
}
