/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct followed - all rows that following a file's code has proven. A file of which a function
 * may be called from any of its pieces is followed as a whole, and asked about piece by piece: who
 * keeps this between the pieces has it followed once. One thread.
 */
#pragma once

#include "object/frame_row.h"

#include <stddef.h>

struct followed {
	struct frame_row *rows; /* in no order */
	size_t count, capacity;
	bool complete; /* what is there is all of it */
	bool given_up; /* there are too many to keep */
};

/* Keeps a row, or gives all of them up: MAX_FOLLOWED_ROWS, or no memory. */
void followed_add(struct followed *followed, const struct frame_row *row);
void followed_end(struct followed *followed);
