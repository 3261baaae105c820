/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct known_files: found again by object, forgotten in the order of use, bounded.
 */
#include "symbolize/known_files.h"
#include "tests/unit/suites.h"

#include <stdio.h>

static void fill(struct known_file *file, const char *name)
{
	char text[64];

	for (uint32_t i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "%s_%u", name, i);
		builder_text(file->answers, text);
	}
}

START_TEST(found_again)
{
	struct known_files files = {.max_bytes = 1 << 20};
	struct known_file *a = known_files_get(&files, 1);
	struct known_file *none = known_files_get(&files, 7);

	ck_assert_ptr_nonnull(a);
	ck_assert_ptr_ne(a, none);
	ck_assert_ptr_eq(known_files_get(&files, 1), a);
	ck_assert_ptr_eq(known_files_get(&files, 7), none);
	ck_assert_ptr_ne(known_files_get(&files, 8), none);
	uint64_t id = a->id;
	fill(a, "name");
	ck_assert_ptr_eq(known_files_with(&files, "name_999", false), a);
	ck_assert_ptr_null(known_files_with(&files, "name_1000", false));
	ck_assert_ptr_null(known_files_with(&files, "name_999", true));
	a->is_hosts = true;
	ck_assert_ptr_eq(known_files_with(&files, "name_999", true), a);
	ck_assert_ptr_null(known_files_with(&files, "name_999", false));
	a->is_hosts = false;
	ck_assert_int_eq(known_file_reset(&files, a), 0);
	ck_assert_uint_ne(a->id, id);
	ck_assert_ptr_null(known_files_with(&files, "name_999", false));
	known_files_release(&files);
	ck_assert_uint_eq(known_files_memory(&files), 0);
}
END_TEST

START_TEST(bounded)
{
	struct known_files files = {.max_bytes = SIZE_MAX};
	char name[16];

	for (unsigned int i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "%02x", i);
		fill(known_files_get(&files, i), name);
	}
	known_files_get(&files, 0);
	files.max_bytes = known_files_memory(&files) / 2;
	known_files_trim(&files);
	ck_assert_uint_le(known_files_memory(&files), files.max_bytes);
	/* The file that was used last is kept, and the file used longest ago is not. */
	ck_assert_ptr_nonnull(known_files_with(&files, "00_1", false));
	ck_assert_ptr_nonnull(known_files_with(&files, "09_1", false));
	ck_assert_ptr_null(known_files_with(&files, "01_1", false));
	files.max_bytes = 0;
	known_files_trim(&files);
	ck_assert_uint_eq(HASH_COUNT(files.by_object), 0);
}
END_TEST

Suite *known_files_suite(void)
{
	Suite *suite = suite_create("known_files");
	TCase *tcase = tcase_create("known_files");

	tcase_add_test(tcase, found_again);
	tcase_add_test(tcase, bounded);
	suite_add_tcase(suite, tcase);
	return suite;
}
