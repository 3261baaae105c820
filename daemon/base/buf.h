/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct buf - growable bytes. The first failed allocation sticks: later writes do nothing and
 * buf_error() says -ENOMEM, so a writer of many small pieces checks once, at the end. A write that
 * goes over `max` fails the same way, with -EFBIG. Always followed by a NUL that is not counted, so
 * text in it can be used as a string. Not thread-safe; any thread may own one.
 */
#pragma once

#include "base/cleanup.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
	uint8_t *data; /* NULL while nothing was written */
	size_t len;
	size_t capacity;
	int error;  /* 0 or negative errno, sticky */
	size_t max; /* bytes that it may hold; 0: any number */
};

#define BUF_INIT ((struct buf){0})

void buf_release(struct buf *buf); /* empty and reusable afterwards, with the same max */
void buf_clear(struct buf *buf);   /* keeps the memory and forgets an error */
int buf_error(const struct buf *buf);

void buf_add(struct buf *buf, const void *data, size_t len);
void buf_add_text(struct buf *buf, const char *text);
void buf_add_char(struct buf *buf, char c);
void buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Room for at least `len` more bytes at the returned place, or NULL; say how much was used with
 * buf_grown(). */
void *buf_reserve(struct buf *buf, size_t len);
void buf_grown(struct buf *buf, size_t len);
/* The text so far; "" when nothing was written. */
const char *buf_text(const struct buf *buf);
/* Reads a small file whole. -EFBIG over `max` bytes, else open's or read's error. */
int buf_read_file(struct buf *buf, const char *path, size_t max);
/* The same, as text: a file that cannot be read says nothing, like one that is empty. */
struct text buf_read_text(struct buf *buf, const char *path, size_t max);
