/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gzip - bytes that are deflated while they are written, so that only their gzip form and at
 * most one piece of the input are in memory. Errors stick to `out`; its `max` limits the gzip form.
 * Not thread-safe; any thread may own one.
 */
#pragma once

#include "base/buf.h"

#include <zlib.h>

struct gzip {
	struct buf *out;
	struct buf piece; /* input that is not deflated yet */
	z_stream stream;
	bool begun;
};

void gzip_begin(struct gzip *gzip, struct buf *out);
/* As buf_reserve() and buf_grown(). */
void *gzip_reserve(struct gzip *gzip, size_t len);
void gzip_grown(struct gzip *gzip, size_t len);
/* Writes the rest and frees the stream; must always be called. */
void gzip_end(struct gzip *gzip);
/* Appends the bytes of a gzip file to `out`; there must be fewer than its `max`, or they are too
 * many: -EFBIG. -EBADMSG: it is no gzip file, or a part of one. -ENOMEM. */
int gzip_unpack(const void *bytes, size_t len, struct buf *out);
