/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A table as the bytes of a reader process's answer (daemon/reader), and the check of these bytes
 * before the kernel half walks with them. The words come first, so that they are aligned and need
 * not be moved. Pure; any thread.
 */
#pragma once

#include "base/buf.h"
#include "unwind/table.h"

/* A question about descriptor 0. The job says whether its code is to be followed. */
struct table_query {
	uint64_t max_words;
	uint64_t start, end; /* own addresses */
};

/* Appends the bytes; `out` must be empty and takes ownership of the words. */
int table_write(struct table *table, struct buf *out);
/* Checks bytes. 0: no walk with the table leaves its words, meets an unknown operation, or needs
 * more steps than with a table that the daemon built; where the rows lead depends on the file only.
 * Otherwise -EBADMSG. */
int table_check(const uint8_t *bytes, size_t len, size_t max_words);
/* Makes a table from checked bytes. Takes ownership of them, even on failure. -ENOMEM. */
int table_read(uint8_t *bytes, size_t len, struct table **ret_table);
