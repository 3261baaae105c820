/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Strings of each width, and bytes that are not text.
 */
#include "tests/unit/suites.h"

#include "base/text.h"
#include "cpython/python_text.h"

#include <string.h>

#define REPLACED     "\xef\xbf\xbd"
#define BYTES(bytes) (bytes), sizeof(bytes) - 1

struct text_case {
	unsigned int kind;
	const char *bytes;
	size_t len;
	bool cut;
	const char *expected;
};

static const struct text_case text_cases[] = {
	{TEXT_ASCII, BYTES(""), false, ""},
	{TEXT_ASCII, BYTES(""), true, "..."},
	{TEXT_ASCII, BYTES("main.<locals>.f"), false, "main.<locals>.f"},
	{TEXT_ASCII, BYTES("main"), true, "main..."},
	{TEXT_ASCII, BYTES("a\0b\nc\x1b[0m\x7f"), false, "a b c [0m "},
	{TEXT_ASCII, BYTES("\x80\xff"), false, REPLACED REPLACED},
	{TEXT_LATIN_1, BYTES("na\xefve\xff"), false, "na\xc3\xafve\xc3\xbf"},
	{TEXT_LATIN_1, BYTES("\x80\x85\x9f\xa0"), false, "   \xc2\xa0"},
	{TEXT_UCS_2, BYTES("f\0\xb1\x03\x57\x5b"), false, "f\xce\xb1\xe5\xad\x97"},
	{TEXT_UCS_2, BYTES("\x00\xd8\xff\xdf\xfd\xff"), false, REPLACED REPLACED REPLACED},
	/* A pair of surrogates gives two replacement characters: Python does not store pairs. */
	{TEXT_UCS_2, BYTES("\x3d\xd8\x00\xde"), false, REPLACED REPLACED},
	{TEXT_UCS_2, BYTES("\x28\x20\x29\x20\x0a\x00"), false, "   "},
	{TEXT_UCS_2, BYTES("\xff\x07\x00\x08\xff\xff"), false, "\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf"},
	{TEXT_UCS_2, BYTES("a\0b"), false, "a"},
	{TEXT_UCS_2, BYTES("a"), false, ""},
	{TEXT_UCS_4, BYTES("\x00\xf6\x01\x00"), false, "\xf0\x9f\x98\x80"},
	{TEXT_UCS_4, BYTES("\xff\xff\x10\x00"), false, "\xf4\x8f\xbf\xbf"},
	{TEXT_UCS_4, BYTES("\x00\x00\x11\x00\xff\xff\xff\xff"), false, REPLACED REPLACED},
	{TEXT_UCS_4, BYTES("\x00\xd8\x00\x00z\0\0\0"), true, REPLACED "z..."},
	{TEXT_UCS_4, BYTES("z\0\0"), false, ""},
	/* Kinds that do not exist. */
	{0, BYTES("abcd"), false, ""},
	{5, BYTES("abcd"), true, "..."},
	{255, BYTES("abcd"), false, ""},
};

START_TEST(texts)
{
	const struct text_case *text = &text_cases[_i];
	_cleanup_(buf_release) struct buf buf = BUF_INIT;
	/* At an odd address, and of exactly this size. */
	_cleanup_free_ uint8_t *bytes = malloc(text->len + 1);

	ck_assert_ptr_nonnull(bytes);
	memcpy(bytes + 1, text->bytes, text->len);
	python_text_add(&buf, text->kind, bytes + 1, text->len, text->cut);
	ck_assert_str_eq(buf_text(&buf), text->expected);
}
END_TEST

/* Any bytes become UTF-8 on one line. */
START_TEST(all_of_it_can_be_shown)
{
	uint8_t bytes[256];
	_cleanup_(buf_release) struct buf buf = BUF_INIT;

	for (unsigned int seed = 0; seed < 256; seed++) {
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (uint8_t)(i * 167 + seed * (i >> 3) + seed);
		for (unsigned int kind = TEXT_ASCII; kind <= TEXT_UCS_4; kind++)
			python_text_add(&buf, kind, bytes, sizeof(bytes) - seed % 5, seed % 2);
	}
	ck_assert_uint_eq(text_utf8_prefix(buf_text(&buf), buf.len), buf.len);
	ck_assert_uint_eq(strlen(buf_text(&buf)), buf.len);
	size_t shown = 0;
	while (shown < buf.len && buf.data[shown] >= ' ' && buf.data[shown] != 0x7f)
		shown++;
	ck_assert_uint_eq(shown, buf.len);
}
END_TEST

Suite *python_text_suite(void)
{
	Suite *suite = suite_create("python_text");
	TCase *tcase = tcase_create("python_text");

	tcase_add_loop_test(tcase, texts, 0, sizeof(text_cases) / sizeof(text_cases[0]));
	tcase_add_test(tcase, all_of_it_can_be_shown);
	suite_add_tcase(suite, tcase);
	return suite;
}
