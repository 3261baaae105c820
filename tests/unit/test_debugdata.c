/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * .gnu_debugdata: its contents are unpacked within bounds, even if it was damaged.
 */
#include "elf/debugdata.h"
#include "tests/unit/section_image.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <lzma.h>
#include <string.h>

enum { PLAIN_BYTES = 300 * 1000, PACKED_BYTES = 400 * 1000 };

static uint8_t plain[PLAIN_BYTES], packed[PACKED_BYTES];
static size_t packed_len;

static void pack(size_t len, uint32_t preset)
{
	uint32_t random = 7;

	for (size_t i = 0; i < len; i++) {
		random = random * 1664525 + 1013904223;
		plain[i] = (uint8_t)(random >> 28);
	}
	packed_len = 0;
	ck_assert_int_eq(lzma_easy_buffer_encode(preset, LZMA_CHECK_CRC64, NULL, plain, len, packed,
	                                         &packed_len, sizeof(packed)),
	                 LZMA_OK);
}

static int read_packed(size_t len, size_t max_bytes, uint8_t **ret_bytes, size_t *ret_len)
{
	_cleanup_(section_image_release) struct section_image image;

	section_image_init(&image);
	section_image_add(&image, ".gnu_debugdata", 0, packed, len);
	_cleanup_(elf_freep) struct elf *elf = section_image_open(&image);
	return debugdata_read(elf, max_bytes, ret_bytes, ret_len);
}

static int result_of(size_t len, size_t max_bytes)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t bytes_len;

	return read_packed(len, max_bytes, &bytes, &bytes_len);
}

START_TEST(whole)
{
	static const struct {
		size_t len;
		uint32_t preset;
	} cases[] = {{1, 0}, {4096, 6}, {PLAIN_BYTES, 6}, {PLAIN_BYTES, 9 | LZMA_PRESET_EXTREME}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		_cleanup_free_ uint8_t *bytes = NULL;
		size_t len;

		pack(cases[i].len, cases[i].preset);
		ck_assert_int_eq(read_packed(packed_len, PLAIN_BYTES, &bytes, &len), 0);
		ck_assert_uint_eq(len, cases[i].len);
		ck_assert_mem_eq(bytes, plain, len);
	}
}
END_TEST

START_TEST(bounded)
{
	pack(PLAIN_BYTES, 6);
	ck_assert_int_eq(result_of(packed_len, PLAIN_BYTES), 0);
	ck_assert_int_eq(result_of(packed_len, SIZE_MAX), 0);
	ck_assert_int_eq(result_of(packed_len, PLAIN_BYTES - 1), -E2BIG);
	ck_assert_int_eq(result_of(packed_len, 1), -E2BIG);
	ck_assert_int_eq(result_of(packed_len, 0), -E2BIG);
}
END_TEST

START_TEST(broken)
{
	static const size_t places[] = {0, 7, 30, 1000};

	pack(PLAIN_BYTES, 6);
	for (size_t len = 1; len < packed_len; len += packed_len / 50)
		ck_assert_int_eq(result_of(len, PLAIN_BYTES), -EBADMSG);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		packed[places[i]] ^= 0x55;
		ck_assert_int_eq(result_of(packed_len, PLAIN_BYTES), -EBADMSG);
		packed[places[i]] ^= 0x55;
	}
	memset(packed, 0, packed_len);
	ck_assert_int_eq(result_of(packed_len, PLAIN_BYTES), -EBADMSG);
}
END_TEST

START_TEST(none)
{
	_cleanup_(section_image_release) struct section_image image;
	uint8_t *bytes;
	size_t len;

	section_image_init(&image);
	_cleanup_(elf_freep) struct elf *elf = section_image_open(&image);
	ck_assert_int_eq(debugdata_read(elf, 1000, &bytes, &len), -ENOENT);
	ck_assert_int_eq(result_of(0, 1000), -ENOENT);
}
END_TEST

Suite *debugdata_suite(void)
{
	Suite *suite = suite_create("debugdata");
	TCase *tcase = tcase_create("debugdata");

	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, whole);
	tcase_add_test(tcase, bounded);
	tcase_add_test(tcase, broken);
	tcase_add_test(tcase, none);
	suite_add_tcase(suite, tcase);
	return suite;
}
