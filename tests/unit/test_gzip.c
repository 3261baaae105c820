/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gzip: bytes come back unchanged, whatever pieces they were added in. The bound applies to
 * the compressed bytes that are kept, not to the bytes that are written.
 */
#include "tests/unit/suites.h"

#include "base/gzip.h"
#include "tests/unit/gunzip.h"

#include <errno.h>
#include <string.h>

static void add(struct gzip *gzip, const void *bytes, size_t len)
{
	void *at = gzip_reserve(gzip, len);

	if (!at)
		return;
	memcpy(at, bytes, len);
	gzip_grown(gzip, len);
}

static void check(const struct buf *plain, size_t piece)
{
	_cleanup_(buf_release) struct buf zipped = BUF_INIT;
	_cleanup_free_ uint8_t *back = malloc(plain->len + 1);
	struct gzip gzip;

	gzip_begin(&gzip, &zipped);
	for (size_t at = 0; at < plain->len; at += piece)
		add(&gzip, plain->data + at, plain->len - at < piece ? plain->len - at : piece);
	gzip_end(&gzip);
	ck_assert_int_eq(buf_error(&zipped), 0);
	ck_assert_uint_eq(gunzip(&zipped, back, plain->len + 1), plain->len);
	ck_assert(!plain->len || !memcmp(back, plain->data, plain->len));
}

START_TEST(round_trip)
{
	_cleanup_(buf_release) struct buf buf = BUF_INIT;

	check(&buf, 1);
	for (uint32_t i = 0; i < 50000; i++)
		buf_printf(&buf, "%u ", i * 2654435761U);
	check(&buf, 1);
	check(&buf, 1000);
	check(&buf, buf.len);
}
END_TEST

static void add_many(struct gzip *gzip, size_t pieces, bool noise)
{
	uint32_t words[1024] = {0}, seed = 1;

	for (size_t i = 0; i < pieces; i++) {
		for (size_t j = 0; noise && j < 1024; j++)
			words[j] = seed = seed * 1664525 + 1013904223;
		add(gzip, words, sizeof(words));
	}
}

/* 64 MiB that compress to very little, then a quarter of that which does not compress. */
START_TEST(the_bound_is_on_what_is_kept)
{
	_cleanup_(buf_release) struct buf zipped = {.max = 1 << 20};
	struct gzip gzip;

	gzip_begin(&gzip, &zipped);
	add_many(&gzip, 16384, false);
	ck_assert_uint_lt(gzip.piece.capacity, 1 << 20);
	gzip_end(&gzip);
	ck_assert_int_eq(buf_error(&zipped), 0);
	buf_clear(&zipped);
	gzip_begin(&gzip, &zipped);
	add_many(&gzip, 4096, true);
	gzip_end(&gzip);
	ck_assert_int_eq(buf_error(&zipped), -EFBIG);
	ck_assert_uint_le(zipped.len, 1 << 20);
}
END_TEST

/* The bound is exact to the byte. */
START_TEST(as_much_as_there_may_be_fits)
{
	_cleanup_(buf_release) struct buf zipped = BUF_INIT;
	struct gzip gzip;
	size_t len;

	gzip_begin(&gzip, &zipped);
	add_many(&gzip, 100, true);
	gzip_end(&gzip);
	len = zipped.len;
	for (size_t less = 0; less < 2; less++) {
		buf_clear(&zipped);
		zipped.max = len - less;
		gzip_begin(&gzip, &zipped);
		add_many(&gzip, 100, true);
		gzip_end(&gzip);
		ck_assert_int_eq(buf_error(&zipped), less ? -EFBIG : 0);
	}
}
END_TEST

START_TEST(an_error_stays)
{
	_cleanup_(buf_release) struct buf zipped = BUF_INIT;
	struct gzip gzip;

	zipped.error = -ENOMEM;
	gzip_begin(&gzip, &zipped);
	add(&gzip, "lost", 4);
	gzip_end(&gzip);
	ck_assert_int_eq(buf_error(&zipped), -ENOMEM);
	buf_clear(&zipped);
	gzip_begin(&gzip, &zipped);
	ck_assert_ptr_null(gzip_reserve(&gzip, SIZE_MAX - 2));
	gzip_end(&gzip);
	ck_assert_int_eq(buf_error(&zipped), -ENOMEM);
}
END_TEST

Suite *gzip_suite(void)
{
	Suite *suite = suite_create("gzip");
	TCase *tcase = tcase_create("gzip");

	tcase_add_test(tcase, round_trip);
	tcase_add_test(tcase, the_bound_is_on_what_is_kept);
	tcase_add_test(tcase, as_much_as_there_may_be_fits);
	tcase_add_test(tcase, an_error_stays);
	suite_add_tcase(suite, tcase);
	return suite;
}
