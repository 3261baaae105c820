/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Files whose names take too long: a profile has the names of other files and says so, and later
 * profiles have all names.
 */
#include "symbolize/slow_names.h"

#include "base/clock.h"
#include "symbolize/symbolize.h"
#include "tests/unit/elf_image.h"
#include "tests/unit/mortal.h"
#include "tests/unit/open_mapped.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { IMAGES = 4, SLOW_ADDRESS = 0x401045, PLAIN_ADDRESS = 0x401010 };

static struct store *store;
static struct symbolizer *symbolizer;
static struct builder *builder;

static void set_up(void)
{
	store = store_new(32);
	symbolizer = symbolizer_new(&(struct symbolizer_config){
		.store = store, .program = READER_SELF, .max_bytes = 64 << 20});
	builder = NULL;
}

static void tear_down(void)
{
	builder_free(builder);
	symbolizer_free(symbolizer);
	store_free(store);
}

/* Adds an image with one name that is made readable slowly, never, or (NULL) at once. Returns the
 * object's id. */
static uint32_t add_image(uint8_t seed, const char *name)
{
	struct elf_image image;
	char path[64];

	elf_image_init(&image, seed);
	if (name)
		snprintf(image.names + 7, sizeof("_ZN3foo3barEi"), "_Z%sv", name);
	_cleanup_close_ int fd = elf_image_fd(&image, sizeof(image));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open_named(store, path)->id;
}

static void begin_profile(void)
{
	builder_free(builder);
	builder = builder_new();
}

static uint32_t add_location(uint32_t object, uint64_t address)
{
	const struct mapping mapping = {
		.path = builder_text(builder, "/opt/prog"), .kind = MAPPING_FILE, .object = object};

	return builder_location(builder, builder_mapping(builder, &mapping), address);
}

static const char *name_of(uint32_t id)
{
	const struct profile *profile = builder_view(builder);
	const struct location *location = &profile->locations[id];
	const struct line *line = &profile->lines[location->first_line];

	ck_assert_uint_eq(location->line_count, 1);
	return profile_string(profile, profile->functions[line->function].name);
}

static bool has_comment(const char *text)
{
	const struct profile *profile = builder_view(builder);

	for (uint32_t i = 0; i < profile->comment_count; i++)
		if (strstr(profile_string(profile, profile->comments[i]), text))
			return true;
	return false;
}

static uint64_t run_ns(void)
{
	uint64_t begun = clock_mono_ns();

	ck_assert_int_eq(symbolizer_run(symbolizer, builder), 0);
	return clock_mono_ns() - begun;
}

START_TEST(later)
{
	uint32_t slow = add_image(1, SLOW_NAME), other = add_image(50, NULL);
	uint64_t end_ns = clock_mono_ns() + 40 * NSEC_PER_SEC;
	struct symbolizer_stats stats;
	uint32_t mine, theirs;

	begin_profile();
	mine = add_location(slow, SLOW_ADDRESS);
	theirs = add_location(other, SLOW_ADDRESS);
	ck_assert_uint_lt(run_ns(), SLOW_SECONDS * NSEC_PER_SEC);
	ck_assert_str_eq(name_of(mine), "[prog+0x401045]");
	ck_assert_str_eq(name_of(theirs), "foo::bar(int)");
	ck_assert(has_comment("names of 1 files are not ready yet"));
	ck_assert(!has_comment("could not be read"));
	symbolizer_get_stats(symbolizer, &stats);
	ck_assert_uint_eq(stats.names.late, 1);
	do {
		begin_profile();
		mine = add_location(slow, SLOW_ADDRESS);
		ck_assert_uint_lt(run_ns(), SLOW_SECONDS * NSEC_PER_SEC);
	} while (has_comment("not ready yet") && clock_mono_ns() < end_ns);
	ck_assert_str_eq(name_of(mine), "slow()");
	ck_assert(!has_comment("could not be read"));
	symbolizer_get_stats(symbolizer, &stats);
	ck_assert_uint_eq(stats.names.files_failed, 0);
	ck_assert_uint_eq(stats.names.crashes, 0);
	/* Another address of the file: the names that are known stay. */
	do {
		begin_profile();
		mine = add_location(slow, SLOW_ADDRESS);
		theirs = add_location(slow, PLAIN_ADDRESS);
		run_ns();
	} while (has_comment("not ready yet") && clock_mono_ns() < end_ns);
	ck_assert_str_eq(name_of(mine), "slow()");
	ck_assert_str_eq(name_of(theirs), "plain");
}
END_TEST

/* Many files that never finish delay a profile no longer than a few, and the next profile hardly at
 * all. */
START_TEST(many)
{
	uint32_t objects[IMAGES * 4];

	for (uint8_t i = 0; i < IMAGES * 4; i++)
		objects[i] = add_image((uint8_t)(1 + 8 * i), ENDLESS_NAME);
	for (int round = 0; round < 2; round++) {
		begin_profile();
		for (size_t i = 0; i < IMAGES * 4; i++)
			add_location(objects[i], SLOW_ADDRESS);
		ck_assert_uint_lt(run_ns(), (round ? 5 : 12) * NSEC_PER_SEC);
		ck_assert(has_comment("not ready yet"));
	}
}
END_TEST

/* A file without a place in the list is asked about by a later profile; no user takes all
 * places. */
START_TEST(places)
{
	_cleanup_(slow_names_freep) struct slow_names *slow =
		slow_names_new("/nonexistent/profd", 64 << 20, 1 << 20);
	static const uint64_t address = SLOW_ADDRESS;
	struct object object = {.owner = 1000, .fd = -1, .references = 1};
	struct slow_question question = {.object = &object,
	                                 .supplement = -1,
	                                 .path = "/opt/prog",
	                                 .addresses = &address,
	                                 .count = 1};
	struct builder *answers;
	int taken = 0, err = 0;

	ck_assert_int_eq(slow_names_take(slow, 1, 0, &answers), -ENOENT);
	/* All questions fail, so they are done, but no answer is taken. */
	for (question.file = 1; question.file <= 3 * SLOW_MAX_FILES; question.file++) {
		do
			err = slow_names_ask(slow, &question);
		while (err == -EAGAIN);
		ck_assert_int_eq(err, 0);
	}
	for (uint64_t file = 1; file <= 3 * SLOW_MAX_FILES; file++) {
		err = slow_names_take(slow, file, 10 * NSEC_PER_SEC, &answers);
		ck_assert(err < 0);
		ck_assert_int_ne(err, -EAGAIN);
		taken += err != -ENOENT;
	}
	ck_assert_int_eq(taken, SLOW_MAX_FILES);
	ck_assert_int_eq(slow_names_take(slow, 3 * SLOW_MAX_FILES, 0, &answers), -ENOENT);
	slow_names_cancel(slow);
	ck_assert_int_eq(slow_names_ask(slow, &question), -EAGAIN);
}
END_TEST

Suite *slow_names_suite(void)
{
	Suite *suite = suite_create("slow_names");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, set_up, tear_down);
	tcase_add_test(all, later);
	tcase_add_test(all, many);
	tcase_add_test(all, places);
	tcase_set_timeout(all, 60);
	suite_add_tcase(suite, all);
	return suite;
}
