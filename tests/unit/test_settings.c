/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The texts of the tables of settings and commands, in --help and the manual pages.
 */
#include "tests/unit/suites.h"

#include "base/clock.h"
#include "commands.h"
#include "settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool ends_with(const char *text, char c)
{
	return text[0] && text[strlen(text) - 1] == c;
}

/* The texts have the form described in settings.h, which the texts printed around them rely on. */
START_TEST(texts_of_the_table)
{
	for (size_t i = 0; i < SETTING_COUNT; i++) {
		const struct setting *setting = &settings[i];

		ck_assert_msg(setting->help[0] && !ends_with(setting->help, '.'), "%s",
		              setting->name);
		ck_assert_msg(!setting->initial[0] || !strstr(setting->help, "default"),
		              "%s: told twice", setting->name);
		ck_assert_msg(!strpbrk(setting->accepted + strlen(setting->accepted) - 1, ".,;"),
		              "%s", setting->name);
		ck_assert_msg(!setting->more[0] || ends_with(setting->more, '.'), "%s",
		              setting->name);
		ck_assert_msg(!setting->argument == (setting->kind == SETTING_SWITCH), "%s",
		              setting->name);
	}
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		ck_assert_msg(commands[i].help[0] && !ends_with(commands[i].help, '.'), "%s",
		              commands[i].words);
}
END_TEST

/* As written in a configuration: 600000000000 of a duration is 10m. */
static const char *bound_text(const struct setting *setting, uint64_t bound,
                              char buffer[SETTING_TEXT_BYTES])
{
	struct config config;
	char number[32];

	if (setting->kind == SETTING_DURATION)
		bound /= NSEC_PER_SEC;
	snprintf(number, sizeof(number), "%" PRIu64, bound);
	settings_default(&config);
	ck_assert_int_eq(setting_set(setting, &config, number), 0);
	return setting_text(setting, &config, 0, buffer);
}

START_TEST(bounds_are_told)
{
	char buffer[SETTING_TEXT_BYTES];

	for (size_t i = 0; i < SETTING_COUNT; i++) {
		const struct setting *setting = &settings[i];

		if (setting->kind != SETTING_NUMBER && setting->kind != SETTING_DURATION &&
		    setting->kind != SETTING_SIZE)
			continue;
		ck_assert_msg(
			strstr(setting->accepted, bound_text(setting, setting->min, buffer)) &&
				strstr(setting->accepted,
		                       bound_text(setting, setting->max, buffer)),
			"%s: %s", setting->name, setting->accepted);
	}
}
END_TEST

Suite *settings_suite(void)
{
	Suite *suite = suite_create("settings");
	TCase *tests = tcase_create("settings");

	tcase_add_test(tests, texts_of_the_table);
	tcase_add_test(tests, bounds_are_told);
	suite_add_tcase(suite, tests);
	return suite;
}
