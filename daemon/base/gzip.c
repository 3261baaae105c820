/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Feeds zlib's stream in pieces that are large enough to be worth a call.
 */
#include "base/gzip.h"

#include <errno.h>
#include <limits.h>

/* 15 bits of window; adding 16 makes zlib write gzip's header instead of its own. */
enum { GZIP_WINDOW = 15 + 16, GZIP_MEMORY = 8 };
enum { PIECE_BYTES = 64 * 1024, STEP_BYTES = 16 * 1024 };

void gzip_begin(struct gzip *gzip, struct buf *out)
{
	*gzip = (struct gzip){.out = out};
	gzip->begun = deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW,
	                           GZIP_MEMORY, Z_DEFAULT_STRATEGY) == Z_OK;
	if (!gzip->begun && !out->error)
		out->error = -ENOMEM;
}

/* At most the bytes that are left below `max`. When none is left it is 1, so that reserving it
 * fails. */
static size_t room_of(const struct buf *out)
{
	size_t left = out->max ? out->max - out->len : STEP_BYTES;

	if (!left)
		return 1;
	return left < STEP_BYTES ? left : STEP_BYTES;
}

static void deflate_piece(struct gzip *gzip, int flush)
{
	z_stream *stream = &gzip->stream;
	int result = Z_OK;

	if (gzip->piece.len > UINT_MAX)
		gzip->out->error = -EFBIG;
	stream->next_in = gzip->piece.data;
	stream->avail_in = (uInt)gzip->piece.len;
	do {
		size_t room = room_of(gzip->out);

		stream->next_out = buf_reserve(gzip->out, room);
		if (!stream->next_out)
			break;
		stream->avail_out = (uInt)room;
		result = deflate(stream, flush);
		buf_grown(gzip->out, room - stream->avail_out);
	} while (result != Z_STREAM_END && (flush == Z_FINISH || !stream->avail_out));
	buf_clear(&gzip->piece);
}

void *gzip_reserve(struct gzip *gzip, size_t len)
{
	void *at = gzip->out->error ? NULL : buf_reserve(&gzip->piece, len);

	if (!at && !gzip->out->error)
		gzip->out->error = buf_error(&gzip->piece);
	return at;
}

void gzip_grown(struct gzip *gzip, size_t len)
{
	buf_grown(&gzip->piece, len);
	if (gzip->piece.len >= PIECE_BYTES)
		deflate_piece(gzip, Z_NO_FLUSH);
}

void gzip_end(struct gzip *gzip)
{
	if (gzip->begun)
		deflate_piece(gzip, Z_FINISH);
	if (gzip->begun)
		deflateEnd(&gzip->stream);
	buf_release(&gzip->piece);
	gzip->begun = false;
}

static int inflate_all(z_stream *stream, struct buf *out)
{
	int result = Z_OK;

	while (result == Z_OK) {
		size_t room = room_of(out);

		stream->next_out = buf_reserve(out, room);
		if (!stream->next_out)
			return buf_error(out);
		stream->avail_out = (uInt)room;
		result = inflate(stream, Z_NO_FLUSH);
		buf_grown(out, room - stream->avail_out);
	}
	if (result == Z_MEM_ERROR)
		return -ENOMEM;
	return result == Z_STREAM_END ? 0 : -EBADMSG;
}

int gzip_unpack(const void *bytes, size_t len, struct buf *out)
{
	z_stream stream = {.next_in = (unsigned char *)(uintptr_t)bytes, .avail_in = (uInt)len};
	int err;

	if (len > UINT_MAX)
		return -EFBIG;
	if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK)
		return -ENOMEM;
	err = inflate_all(&stream, out);
	inflateEnd(&stream);
	return err;
}
