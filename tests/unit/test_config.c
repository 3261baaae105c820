/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Settings: the command line, the file, which of the two has precedence, and reading them again.
 */
#include "tests/unit/suites.h"

#include "base/clock.h"
#include "commands.h"
#include "config_load.h"
#include "settings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_WORDS = 6 };

/* A command line whose words may be changed, like main()'s. */
struct line {
	char *argv[MAX_WORDS + 2];
	int argc;
};

static void line_add(struct line *line, const char *word)
{
	line->argv[line->argc++] = strdup(word);
}

static void line_release(struct line *line)
{
	for (int i = 0; i < line->argc; i++)
		free(line->argv[i]);
}

/* Names an empty file, so that a file of this host is not read. */
static struct line line_of(const char *const words[], size_t count)
{
	struct line line = {0};

	line_add(&line, "profd");
	line_add(&line, "--config=/dev/null");
	for (size_t i = 0; i < count && words[i]; i++)
		line_add(&line, words[i]);
	return line;
}

static const struct {
	const char *words[4];
	const char *says; /* a part of the error; NULL: accepted */
} lines[] = {
	{{"serve"}, NULL},
	{{"serve", "--freq=1000"}, NULL},
	{{"--freq", "19", "serve"}, NULL},
	{{"serve", "--history=10s", "--history-memory=1MiB"}, NULL},
	{{"serve", "--listen=:0", "--listen=unix:/a"}, NULL},
	{{"serve", "--verbose"}, NULL},
	{{"serve", "--insecure", "--web-config=/a"}, NULL},
	{{NULL}, "no command"},
	{{"record"}, "unknown command \"record\""},
	{{"config"}, "no command"},
	{{"config", "check"}, NULL},
	{{"config", "show", "--freq=19"}, NULL},
	{{"config", "serve"}, "unknown command \"config serve\""},
	{{"config", "show", "it"}, "unexpected argument \"it\""},
	{{"serve", "now"}, "unexpected argument \"now\""},
	{{"serve", "--freq=0"}, "--freq 0: an integer from 1 to 1000"},
	{{"serve", "--freq=1001"}, "--freq"},
	{{"serve", "--freq=9x"}, "--freq"},
	{{"serve", "--freq="}, "--freq"},
	{{"serve", "--history=9s"}, "--history 9s: a duration from 10s to 10m"},
	{{"serve", "--history=601"}, "--history"},
	{{"serve", "--history-memory=1"}, "--history-memory 1: a size from 1MiB"},
	{{"serve", "--history-memory=5GiB"}, "--history-memory"},
	{{"serve", "--unwind-memory=3MiB"}, "--unwind-memory 3MiB: a size from 4MiB"},
	{{"serve", "--unwind-memory=257MiB"}, "--unwind-memory"},
	{{"serve", "--unwind-memory=4MiB"}, NULL},
	{{"serve", "--on-demand=no", "--group=profilers", "--allow-host=a.example b"}, NULL},
	{{"serve", "--on-demand=maybe"}, "--on-demand maybe: yes or no"},
	{{"serve", "--group=a b"}, "--group a b: the name of a group"},
	{{"serve", "--allow-host=a:80"}, "--allow-host a:80: a list of names"},
	{{"serve", "--max-seconds=601"}, "--max-seconds 601: an integer from 1 to 600"},
	{{"serve", "--max-requests=0"}, "--max-requests 0: an integer"},
	{{"serve", "--max-client-requests=16385"}, "--max-client-requests"},
	{{"serve", "--answer-memory=1KiB"}, "--answer-memory 1KiB: a size"},
	{{"serve", "--listen=9090"}, "--listen 9090: ADDR:PORT"},
	{{"serve", "--config=/nowhere/at/all"}, "cannot read /nowhere/at/all: No such file"},
	{{"serve", "--config=/"}, "cannot read /: Is a directory"},
};

START_TEST(command_lines)
{
	_cleanup_(line_release) struct line line = line_of(lines[_i].words, 4);
	_cleanup_(config_release) struct config config = {0};
	char why[256];
	int err = config_load(line.argc, line.argv, &config, why);

	if (!lines[_i].says) {
		ck_assert_msg(err == 0, "%s", why);
		ck_assert_uint_ge(config.listen_count, 1);
		return;
	}
	ck_assert_int_eq(err, strstr(why, "cannot read") ? -EBADMSG : -EINVAL);
	ck_assert_msg(strstr(why, lines[_i].says) != NULL, "%s", why);
}
END_TEST

START_TEST(defaults)
{
	_cleanup_(line_release) struct line line = line_of((const char *[]){"serve"}, 1);
	_cleanup_(config_release) struct config config = {0};
	char why[256];

	ck_assert_int_eq(config_load(line.argc, line.argv, &config, why), 0);
	ck_assert_int_eq(config.command, COMMAND_SERVE);
	ck_assert_uint_eq(config.listen_count, 1);
	ck_assert_str_eq(config.listen[0], "127.0.0.1:9090");
	ck_assert_uint_eq(config.sample_hz, 99);
	ck_assert_uint_eq(config.history_ns, 600 * NSEC_PER_SEC);
	ck_assert_uint_eq(config.history_bytes, 64 << 20);
	ck_assert_ptr_null(config.debuginfod);
	ck_assert_uint_eq(config.verbose, 0);
}
END_TEST

static const struct {
	const char *text;
	const char *says; /* a part of the error; NULL: accepted */
} files[] = {
	{"", NULL},
	{"# nothing\n; at all\n\n", NULL},
	{"# a\n  # b\n \n\t; c\n", NULL},
	{"freq = 19\nhistory=5m\nverbose  =  yes ; for now\n", NULL},
	{"\xef\xbb\xbf"
         "freq = 19\r\n",
         NULL},
	{"listen = :1\nlisten = unix:/a", NULL},
	{"debuginfod =\n", NULL},
	{"debuginfod = https://a http://b\n", NULL},
	{"debuginfod = https://a\ndebuginfod = http://b\n", NULL},
	{"\nfrequency = 19\n", "f:2: there is no setting \"frequency\""},
	{"freq 19\n", "f:1: neither a setting"},
	{"freq = 19\nfreq = 19\n", "f:2: freq is set a second time"},
	{"listen = :1\n  freq = 19\n", "f:2: begins with a blank"},
	{"listen = unix:/a # b\n", "f:1: a # comment must be on a line of its own"},
	{"freq =\n", "f:1: bad freq = : an integer from 1 to 1000"},
	{"freq = 0\nnonsense\n", "f:1: bad freq = 0"},
	{"verbose = 1\n", "f:1: bad verbose = 1: yes or no"},
	{"debuginfod = ftp://a\n", "f:1: bad debuginfod = ftp://a"},
	{"debuginfod = https://a b\n", "f:1: bad debuginfod = https://a b"},
	{"group = profilers\non-demand = no\n", NULL},
	{"group =\nallow-host =\n", NULL},
	{"allow-host = a.example\nallow-host = b c\n", NULL},
	{"group = a:b\n", "f:1: bad group = a:b"},
	{"on-demand = 0\n", "f:1: bad on-demand = 0: yes or no"},
	{"listen = 9090\n", "f:1: bad listen = 9090"},
	{"[profd]\nfreq = 19\n", "f:1: there are no sections"},
};

START_TEST(settings_of_a_file)
{
	_cleanup_(config_release) struct config config = {0};
	char why[256];
	int err;

	settings_default(&config);
	err = config_read(&config, "f", files[_i].text, why);
	if (!files[_i].says) {
		ck_assert_msg(err == 0, "%s", why);
		return;
	}
	ck_assert_int_eq(err, -EBADMSG);
	ck_assert_msg(strstr(why, files[_i].says) == why, "%s", why);
}
END_TEST

/* The library would read a longer line as two lines. */
START_TEST(long_lines_are_refused)
{
	static const char before[] = "debuginfod = http://b\n# ";
	char text[sizeof(before) + 200], why[256];

	for (size_t len = 190; len <= 191; len++) {
		_cleanup_(config_release) struct config config = {0};
		size_t comment = strchr(before, '#') - before;

		settings_default(&config);
		memset(text, 'a', sizeof(text));
		memcpy(text, before, strlen(before));
		text[comment + len] = '\0';
		if (len == 190) {
			ck_assert_int_eq(config_read(&config, "f", text, why), 0);
			continue;
		}
		ck_assert_int_eq(config_read(&config, "f", text, why), -EBADMSG);
		ck_assert_msg(strstr(why, "f:2: longer than 190") == why, "%s", why);
	}
}
END_TEST

START_TEST(urls_add_up)
{
	_cleanup_(config_release) struct config config = {0};
	char buffer[SETTING_TEXT_BYTES], why[256];
	const struct setting *urls = setting_find("debuginfod");

	settings_default(&config);
	ck_assert_uint_eq(setting_count(urls, &config), 1);
	ck_assert_str_eq(setting_text(urls, &config, 0, buffer), "");
	ck_assert_int_eq(config_read(&config, "f",
	                             "debuginfod = http://a  https://b\ndebuginfod = http://c\n",
	                             why),
	                 0);
	ck_assert_str_eq(config.debuginfod, "http://a  https://b http://c");
	ck_assert_uint_eq(setting_count(urls, &config), 3);
	ck_assert_str_eq(setting_text(urls, &config, 1, buffer), "https://b");
	ck_assert_str_eq(setting_text(urls, &config, 2, buffer), "http://c");
}
END_TEST

START_TEST(a_long_name_ends_right)
{
	_cleanup_(config_release) struct config config = {0};
	char name[200], why[256];

	settings_default(&config);
	memset(name, 'n', sizeof(name));
	memcpy(name + sizeof(name) - 7, "/f.conf", 7);
	name[sizeof(name) - 1] = '\0';
	ck_assert_int_eq(config_read(&config, name, "x = 1", why), -EBADMSG);
	ck_assert_msg(strstr(why, "/f.con:1: there is no setting \"x\"") != NULL, "%s", why);
}
END_TEST

START_TEST(too_many_addresses)
{
	_cleanup_(config_release) struct config config = {0};
	char text[MAX_LISTENERS * 16 + 16] = "", why[256];

	settings_default(&config);
	for (int i = 0; i <= MAX_LISTENERS; i++)
		strcat(text, "listen = :1\n");
	ck_assert_int_eq(config_read(&config, "f", text, why), -EBADMSG);
	ck_assert_msg(strstr(why, "f:9: bad listen = :1") == why, "%s", why);
}
END_TEST

static void put(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

START_TEST(the_command_line_wins)
{
	char path[] = "/tmp/profd-test-XXXXXX";
	const char *words[] = {"--config", path, "serve", "--freq=20", NULL};
	char why[256];

	close(mkstemp(path));
	put(path, "freq = 19\nhistory = 90s\nlisten = :1\nlisten = :2\n");
	for (int own = 0; own < 2; own++) {
		_cleanup_(config_release) struct config config = {0};
		_cleanup_(line_release) struct line line = {0};

		words[4] = own ? "--listen=unix:/a" : NULL;
		line = line_of(words, 5);
		ck_assert_int_eq(config_load(line.argc, line.argv, &config, why), 0);
		ck_assert_str_eq(config.file, path);
		ck_assert_uint_eq(config.sample_hz, 20);
		ck_assert_uint_eq(config.history_ns, 90 * NSEC_PER_SEC);
		ck_assert_uint_eq(config.listen_count, own ? 1 : 2);
		ck_assert_str_eq(config.listen[0], own ? "unix:/a" : ":1");
	}
	unlink(path);
}
END_TEST

static void count(const struct config *config, void *ctx)
{
	(void)config;
	++*(int *)ctx;
}

START_TEST(read_again)
{
	char path[] = "/tmp/profd-test-XXXXXX";
	_cleanup_(config_release) struct config config = {0};
	_cleanup_(line_release) struct line line = {0};
	char why[256];
	int changes = 0;

	close(mkstemp(path));
	put(path, "history-memory = 8MiB\nlisten = :1\n");
	line = line_of((const char *[]){"--config", path, "serve"}, 3);
	ck_assert_int_eq(config_load(line.argc, line.argv, &config, why), 0);
	config_reload(&config, count, &changes);
	ck_assert_int_eq(changes, 0);
	put(path, "history-memory = 16MiB\nverbose = yes\nlisten = :2\nfreq = 19\n");
	config_reload(&config, count, &changes);
	ck_assert_int_eq(changes, 2);
	ck_assert_uint_eq(config.verbose, 1);
	ck_assert_uint_eq(config.history_bytes, 16 << 20);
	/* Changes of these settings need a restart. */
	ck_assert_str_eq(config.listen[0], ":1");
	ck_assert_uint_eq(config.sample_hz, 99);
	put(path, "history-memory = 32MiB\nwhat is this\n");
	config_reload(&config, count, &changes);
	ck_assert_uint_eq(config.history_bytes, 16 << 20);
	unlink(path);
	config_reload(&config, count, &changes);
	ck_assert_uint_eq(config.history_bytes, 16 << 20);
	ck_assert_int_eq(changes, 2);
}
END_TEST

/* The text shown for a setting is accepted as its value, and means the same. */
START_TEST(texts_are_values)
{
	struct config initial, config;
	char buffer[SETTING_TEXT_BYTES];

	settings_default(&initial);
	for (size_t i = 0; i < SETTING_COUNT; i++) {
		const struct setting *setting = &settings[i];

		if (setting->kind == SETTING_ADDRESSES)
			continue;
		ck_assert_str_eq(setting_text(setting, &initial, 0, buffer), setting->initial);
		settings_default(&config);
		ck_assert_int_eq(setting_set(setting, &config, setting->initial), 0);
		ck_assert(setting_equal(setting, &config, &initial));
		ck_assert_ptr_eq(setting_find(setting->name), setting);
	}
	ck_assert_ptr_null(setting_find(""));
	ck_assert_ptr_null(setting_find("config"));
	ck_assert_int_eq(setting_set(setting_find("history"), &config, "90001ms"), 0);
	ck_assert_str_eq(setting_text(setting_find("history"), &config, 0, buffer), "90001ms");
	ck_assert(!setting_equal(setting_find("history"), &config, &initial));
}
END_TEST

START_TEST(unknown_commands_are_told_the_known)
{
	_cleanup_(line_release) struct line line = line_of((const char *[]){"record"}, 1);
	_cleanup_(config_release) struct config config = {0};
	char why[256];

	ck_assert_int_eq(config_load(line.argc, line.argv, &config, why), -EINVAL);
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		ck_assert_msg(strstr(why, commands[i].words) != NULL, "%s", why);
	ck_assert_msg(strstr(why, " is accepted") != NULL, "%s", why);
}
END_TEST

Suite *config_suite(void)
{
	Suite *suite = suite_create("config");
	TCase *tests = tcase_create("config");

	tcase_add_loop_test(tests, command_lines, 0, sizeof(lines) / sizeof(lines[0]));
	tcase_add_test(tests, defaults);
	tcase_add_loop_test(tests, settings_of_a_file, 0, sizeof(files) / sizeof(files[0]));
	tcase_add_test(tests, long_lines_are_refused);
	tcase_add_test(tests, urls_add_up);
	tcase_add_test(tests, a_long_name_ends_right);
	tcase_add_test(tests, too_many_addresses);
	tcase_add_test(tests, the_command_line_wins);
	tcase_add_test(tests, read_again);
	tcase_add_test(tests, texts_are_values);
	tcase_add_test(tests, unknown_commands_are_told_the_known);
	suite_add_tcase(suite, tests);
	return suite;
}
