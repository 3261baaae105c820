/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A sweep line: a row enters at its start. Among the rows that have entered and not ended, the one
 * with the lowest order applies. These rows are kept in a binary heap, which is one deep unless
 * rows overlap.
 */
#include "unwind/sweep.h"

#include "base/cleanup.h"
#include "bpf/unwind_table.h"

#include <errno.h>
#include <stdbool.h>

struct sweep {
	const struct packed_row *rows;
	size_t next, next_end;   /* rows that came sorted */
	size_t other, other_end; /* the other rows */
	uint32_t *entered;       /* heap of row indices, lowest order first */
	size_t entered_count, entered_capacity;
};

static bool before(const struct packed_row *a, const struct packed_row *b)
{
	uint64_t a_start = packed_start(a), b_start = packed_start(b);

	return a_start < b_start || (a_start == b_start && a->order < b->order);
}

static void swap_rows(struct packed_row *a, struct packed_row *b)
{
	struct packed_row old = *a;

	*a = *b;
	*b = old;
}

static void sift_down(struct packed_row *rows, size_t root, size_t count)
{
	for (size_t child; (child = 2 * root + 1) < count; root = child) {
		if (child + 1 < count && before(&rows[child], &rows[child + 1]))
			child++;
		if (!before(&rows[root], &rows[child]))
			return;
		swap_rows(&rows[root], &rows[child]);
	}
}

/* Heapsort, because it needs no memory and no input makes it slow. */
static void sort_rows(struct packed_row *rows, size_t count)
{
	for (size_t root = count / 2; root-- > 0;)
		sift_down(rows, root, count);
	for (size_t last = count; last-- > 1;) {
		swap_rows(&rows[0], &rows[last]);
		sift_down(rows, 0, last);
	}
}

static uint32_t order_at(const struct sweep *sweep, size_t at)
{
	return sweep->rows[sweep->entered[at]].order;
}

static int enter(struct sweep *sweep, size_t row)
{
	if (sweep->entered_count == sweep->entered_capacity) {
		size_t capacity = sweep->entered_capacity ? sweep->entered_capacity * 2 : 16;
		uint32_t *entered = realloc(sweep->entered, capacity * sizeof(*entered));

		if (!entered)
			return -ENOMEM;
		sweep->entered = entered;
		sweep->entered_capacity = capacity;
	}
	size_t at = sweep->entered_count++;
	sweep->entered[at] = (uint32_t)row;
	while (at > 0 && order_at(sweep, at) < order_at(sweep, (at - 1) / 2)) {
		size_t parent = (at - 1) / 2;
		uint32_t old = sweep->entered[parent];

		sweep->entered[parent] = sweep->entered[at];
		sweep->entered[at] = old;
		at = parent;
	}
	return 0;
}

static void leave(struct sweep *sweep)
{
	uint32_t *heap = sweep->entered;
	size_t root = 0, count = --sweep->entered_count;

	heap[0] = heap[count];
	for (size_t child; (child = 2 * root + 1) < count; root = child) {
		uint32_t old = heap[root];

		if (child + 1 < count && order_at(sweep, child + 1) < order_at(sweep, child))
			child++;
		if (order_at(sweep, root) < order_at(sweep, child))
			return;
		heap[root] = heap[child];
		heap[child] = old;
	}
}

/* The row of both parts that begins next; NULL after the last. */
static const struct packed_row *peek(const struct sweep *sweep)
{
	bool next = sweep->next < sweep->next_end, other = sweep->other < sweep->other_end;

	if (next && (!other || !before(&sweep->rows[sweep->other], &sweep->rows[sweep->next])))
		return &sweep->rows[sweep->next];
	return other ? &sweep->rows[sweep->other] : NULL;
}

/* Enters the rows that begin at or before an address. */
static int enter_until(struct sweep *sweep, uint64_t address)
{
	const struct packed_row *row;

	while ((row = peek(sweep)) && packed_start(row) <= address) {
		size_t index = (size_t)(row - sweep->rows);
		int err = enter(sweep, index);

		if (err)
			return err;
		if (index < sweep->next_end)
			sweep->next++;
		else
			sweep->other++;
	}
	return 0;
}

static int sweep_pieces(struct sweep *sweep, piece_fn *fn, void *ctx)
{
	const struct packed_row *next;
	uint64_t at = 0;

	for (;;) {
		while (sweep->entered_count && packed_end(&sweep->rows[sweep->entered[0]]) <= at)
			leave(sweep);
		next = peek(sweep);
		if (!sweep->entered_count) {
			if (!next)
				return 0;
			at = packed_start(next);
		}
		int err = enter_until(sweep, at);
		if (err)
			return err;
		next = peek(sweep);
		const struct packed_row *holder = &sweep->rows[sweep->entered[0]];
		uint64_t end = packed_end(holder);
		if (next && packed_start(next) < end)
			end = packed_start(next);
		if (end > at)
			err = fn(at, end, (uint32_t)holder->start_op & OP_MASK, ctx);
		if (err)
			return err;
		at = end;
	}
}

int sweep_rows(struct packed_row *rows, size_t count, size_t ascending, piece_fn *fn, void *ctx)
{
	struct sweep sweep = {
		.rows = rows, .next_end = ascending, .other = ascending, .other_end = count};

	sort_rows(rows + ascending, count - ascending);
	int err = sweep_pieces(&sweep, fn, ctx);
	free(sweep.entered);
	return err;
}
