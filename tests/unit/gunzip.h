/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a gzip file has in it, for tests that read back what was written.
 */
#pragma once

#include "base/buf.h"

#include <check.h>
#include <zlib.h>

/* The number of bytes put into `plain`, into which all of them must fit. */
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
