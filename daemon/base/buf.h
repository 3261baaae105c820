/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct buf - growable bytes. The first failed allocation is remembered: later writes do nothing
 * and buf_error() returns -ENOMEM, so a writer of many small pieces checks once, at the end. A
 * write beyond `max` fails the same way, with -EFBIG. A NUL that is not counted always follows the
 * bytes, so text can be used as a string. Not thread-safe; any thread may own one.
 */
#pragma once

#include "base/cleanup.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
	uint8_t *data; /* NULL until the first write */
	size_t len;
	size_t capacity;
	int error;  /* 0 or negative errno, sticky */
	size_t max; /* limit of len; 0: none */
};

#define BUF_INIT ((struct buf){0})

void buf_release(struct buf *buf); /* empty and reusable afterwards, with the same max */
void buf_clear(struct buf *buf);   /* keeps the memory and clears the error */
int buf_error(const struct buf *buf);

void buf_add(struct buf *buf, const void *data, size_t len);
void buf_add_text(struct buf *buf, const char *text);
void buf_add_char(struct buf *buf, char c);
void buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Returns room for at least `len` more bytes, or NULL. The caller reports how many it wrote with
 * buf_grown(). */
void *buf_reserve(struct buf *buf, size_t len);
void buf_grown(struct buf *buf, size_t len);
/* The text so far; "" when it is empty. */
const char *buf_text(const struct buf *buf);
/* Appends the rest of a file. -EFBIG when the buffer would have over `max` bytes, -ENOMEM, or the
 * error of read(). */
int buf_read_fd(struct buf *buf, int fd, size_t max);
/* Reads the whole of a small file. -EFBIG over `max` bytes, else the error of open() or read(). */
int buf_read_file(struct buf *buf, const char *path, size_t max);
/* The same, as text. A file that cannot be read gives an empty text, as an empty file does. */
struct text buf_read_text(struct buf *buf, const char *path, size_t max);
