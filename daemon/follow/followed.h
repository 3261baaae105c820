/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct followed - all rows that were proven by following a file's code. A function may be called
 * from any piece of its file, so a file is followed as a whole but asked about piece by piece. A
 * caller that keeps this struct between the pieces has the file followed only once. One thread.
 */
#pragma once

#include "cfi/frame_row.h"

#include <stddef.h>

struct followed {
	struct frame_row *rows; /* unordered */
	size_t count, capacity;
	bool complete; /* all rows of the file are there */
	bool given_up; /* there were too many rows to keep */
};

/* Keeps a row. Drops all rows when there are more than MAX_FOLLOWED_ROWS, or no memory. */
void followed_add(struct followed *followed, const struct frame_row *row);
void followed_end(struct followed *followed);
