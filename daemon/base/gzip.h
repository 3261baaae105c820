/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gzip - bytes that are deflated while they are written, so that what is kept is their gzip
 * form and no more than a piece of them. Errors stick to `out`, whose max is of the gzip form. Not
 * thread-safe; any thread may own one.
 */
#pragma once

#include "base/buf.h"

#include <zlib.h>

struct gzip {
	struct buf *out;
	struct buf piece; /* of what was written: not deflated yet */
	z_stream stream;
	bool begun;
};

void gzip_begin(struct gzip *gzip, struct buf *out);
/* As buf_reserve() and buf_grown(). */
void *gzip_reserve(struct gzip *gzip, size_t len);
void gzip_grown(struct gzip *gzip, size_t len);
/* Writes the rest, and frees; always to be called. */
void gzip_end(struct gzip *gzip);
