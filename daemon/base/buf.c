/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Growable bytes with a sticky error, and reading of small files. All code that makes or takes
 * bytes uses this, so allocation sizes are computed in one place.
 */
#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SMALLEST_CAPACITY = 64, READ_STEP = 16 * 1024 };

void buf_release(struct buf *buf)
{
	free(buf->data);
	*buf = (struct buf){.max = buf->max};
}

void buf_clear(struct buf *buf)
{
	buf->len = 0;
	buf->error = 0;
	if (buf->data)
		buf->data[0] = '\0';
}

int buf_error(const struct buf *buf)
{
	return buf->error;
}

void *buf_reserve(struct buf *buf, size_t len)
{
	if (buf->error)
		return NULL;
	if (len >= SIZE_MAX / 2 - buf->len) {
		buf->error = -ENOMEM;
		return NULL;
	}
	if (buf->max && len > buf->max - buf->len) {
		buf->error = -EFBIG;
		return NULL;
	}

	/* One byte more for the NUL. */
	size_t wanted = buf->len + len + 1;
	if (wanted > buf->capacity) {
		size_t capacity = buf->capacity ? buf->capacity : SMALLEST_CAPACITY;
		while (capacity < wanted)
			capacity *= 2;
		uint8_t *data = realloc(buf->data, capacity);
		if (!data) {
			buf->error = -ENOMEM;
			return NULL;
		}
		buf->data = data;
		buf->capacity = capacity;
		buf->data[buf->len] = '\0';
	}
	return buf->data + buf->len;
}

void buf_grown(struct buf *buf, size_t len)
{
	if (buf->error || !len)
		return;
	buf->len += len;
	buf->data[buf->len] = '\0';
}

void buf_add(struct buf *buf, const void *data, size_t len)
{
	void *at = buf_reserve(buf, len);

	if (!at || !len)
		return;
	memcpy(at, data, len);
	buf_grown(buf, len);
}

void buf_add_text(struct buf *buf, const char *text)
{
	buf_add(buf, text, strlen(text));
}

void buf_add_char(struct buf *buf, char c)
{
	buf_add(buf, &c, 1);
}

void buf_printf(struct buf *buf, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (len < 0 && !buf->error)
		buf->error = -EINVAL;

	char *at = len < 0 ? NULL : buf_reserve(buf, (size_t)len);
	if (!at)
		return;
	va_start(args, format);
	vsnprintf(at, (size_t)len + 1, format, args);
	va_end(args);
	buf_grown(buf, (size_t)len);
}

const char *buf_text(const struct buf *buf)
{
	return buf->data ? (const char *)buf->data : "";
}

int buf_read_fd(struct buf *buf, int fd, size_t max)
{
	for (;;) {
		void *at = buf_reserve(buf, READ_STEP);
		if (!at)
			return buf_error(buf);
		ssize_t got = read(fd, at, READ_STEP);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return 0;
		if ((size_t)got > max - buf->len)
			return -EFBIG;
		buf_grown(buf, (size_t)got);
	}
}

int buf_read_file(struct buf *buf, const char *path, size_t max)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	buf_clear(buf);
	int err = buf_read_fd(buf, fd, max);
	if (err < 0)
		buf_clear(buf);
	return err;
}

struct text buf_read_text(struct buf *buf, const char *path, size_t max)
{
	if (buf_read_file(buf, path, max) < 0)
		return text_of("", 0);
	return text_of(buf_text(buf), buf->len);
}
