/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Unpacks a gzip file, for tests that read back what was written.
 */
#pragma once

#include "base/buf.h"

#include <check.h>
#include <zlib.h>

/* Returns the number of bytes put into `plain`, which must have room for all of them. */
static inline size_t gunzip(const struct buf *zipped, uint8_t *plain, size_t size)
{
	z_stream stream = {
		.next_in = zipped->data,
		.avail_in = (uInt)zipped->len,
		.next_out = plain,
		.avail_out = (uInt)size,
	};

	ck_assert_int_eq(inflateInit2(&stream, 16 + MAX_WBITS), Z_OK);
	ck_assert_int_eq(inflate(&stream, Z_FINISH), Z_STREAM_END);
	ck_assert_int_eq(inflateEnd(&stream), Z_OK);
	return stream.total_out;
}
