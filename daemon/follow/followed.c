/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A growing array with a bound.
 */
#include "follow/followed.h"

#include <stdlib.h>

enum {
	FIRST_ROWS = 256,
	MAX_FOLLOWED_ROWS = 128 * 1024, /* 10 MB; Node.js has a tenth of that */
};

static bool grow(struct followed *followed)
{
	size_t capacity = followed->capacity ? followed->capacity * 2 : FIRST_ROWS;
	struct frame_row *rows;

	if (capacity > MAX_FOLLOWED_ROWS)
		return false;
	rows = reallocarray(followed->rows, capacity, sizeof(*rows));
	if (!rows)
		return false;
	followed->rows = rows;
	followed->capacity = capacity;
	return true;
}

void followed_add(struct followed *followed, const struct frame_row *row)
{
	if (followed->given_up)
		return;
	if (followed->count == followed->capacity && !grow(followed)) {
		followed_end(followed);
		followed->given_up = true;
		return;
	}
	followed->rows[followed->count++] = *row;
}

void followed_end(struct followed *followed)
{
	free(followed->rows);
	*followed = (struct followed){0};
}
