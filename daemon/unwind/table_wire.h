/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A table as the bytes that a reader process answers with (daemon/reader), and what is checked of
 * them before the kernel half walks with it. The words stand first, so that they are aligned and
 * need not be moved. Pure; any thread.
 */
#pragma once

#include "base/buf.h"
#include "unwind/table.h"

/* A question about descriptor 0; whether its code is to be followed is the job. */
struct table_query {
	uint64_t max_words;
	uint64_t start, end; /* own addresses */
};

/* Appends the bytes; `out` is empty and takes over the words. */
int table_write(struct table *table, struct buf *out);
/* What a check of bytes comes to: 0 or -EBADMSG. No walk with the table leaves its words, names an
 * operation that there is not, or needs more steps than with one of our own; where its rows lead is
 * the file's business. */
int table_check(const uint8_t *bytes, size_t len, size_t max_words);
/* Makes a table of bytes that were checked; takes them over, on failure too. -ENOMEM. */
int table_read(uint8_t *bytes, size_t len, struct table **ret_table);
