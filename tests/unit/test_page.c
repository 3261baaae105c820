/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The page's files: they are there, and each client gets the right one of their forms.
 */
#include "api/page.h"
#include "http/route.h"
#include "tests/unit/suites.h"

#include <string.h>

START_TEST(files_are_there)
{
	size_t page = 0, manual = 0;

	for (const struct page_file *file = page_files; file->path; file++) {
		ck_assert_ptr_eq(page_find(file->path), file);
		ck_assert_uint_gt(file->len, 0);
		ck_assert_uint_gt(strlen(file->type), 0);
		ck_assert_int_eq(strncmp(file->tag, "W/\"", 3), 0);
		/* The first bytes of a gzip file, RFC 1952. */
		ck_assert_uint_gt(file->gzipped_len, 18);
		ck_assert_uint_eq(file->gzipped[0], 0x1f);
		ck_assert_uint_eq(file->gzipped[1], 0x8b);
		*(strncmp(file->path, "help/", 5) == 0 ? &manual : &page) += file->gzipped_len;
	}
	ck_assert_uint_le(page, 110 * 1024);
	ck_assert_uint_gt(manual, 10 * 1024);
	ck_assert_uint_le(manual, 64 * 1024);
	ck_assert_str_eq(page_find("index.html")->type, "text/html; charset=utf-8");
	ck_assert_str_eq(page_find("app.js")->type, "text/javascript; charset=utf-8");
	ck_assert_ptr_null(page_find(""));
	ck_assert_ptr_null(page_find("../Makefile"));
	ck_assert_ptr_null(page_find("README.md"));
	ck_assert_ptr_eq(route_find("/ui/app.js")->handle, handle_page_file);
	ck_assert_ptr_null(route_find("/ui"));
	ck_assert_ptr_nonnull(page_find("help/profd-http.7.html"));
	ck_assert_ptr_eq(route_find("/help/")->handle, handle_manual);
}
END_TEST

static const struct {
	const char *accept_encoding;
	bool takes;
} encodings[] = {
	{NULL, false},
	{"", false},
	{"gzip", true},
	{"GZIP", true},
	{"deflate, gzip;q=1.0, *;q=0.5", true},
	{"br,gzip", true},
	{"x-gzip, gzipped", false},
	{"identity", false},
	{"gzip;q=0", false},
	{"gzip ; q=0.000, identity", false},
	{"gzip;q=0.001", true},
	{",,, gzip ,", true},
	{",;,", false},
};

START_TEST(encodings_are_read)
{
	ck_assert_msg(page_takes_gzip(encodings[_i].accept_encoding) == encodings[_i].takes, "%s",
	              encodings[_i].accept_encoding);
}
END_TEST

START_TEST(tags_are_compared)
{
	static const char tag[] = "W/\"0123456789abcdef\"";

	ck_assert(page_tag_matches(tag, tag));
	ck_assert(page_tag_matches("\"x\", W/\"0123456789abcdef\"", tag));
	ck_assert(page_tag_matches("*", tag));
	ck_assert(!page_tag_matches(NULL, tag));
	ck_assert(!page_tag_matches("", tag));
	ck_assert(!page_tag_matches("W/\"0123456789abcde\"", tag));
}
END_TEST

Suite *page_suite(void)
{
	Suite *suite = suite_create("page");
	TCase *tests = tcase_create("page");

	tcase_add_test(tests, files_are_there);
	tcase_add_loop_test(tests, encodings_are_read, 0, sizeof(encodings) / sizeof(encodings[0]));
	tcase_add_test(tests, tags_are_compared);
	suite_add_tcase(suite, tests);
	return suite;
}
