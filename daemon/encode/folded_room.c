/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Adds up the lengths of lines by account. Equal lines of one account are counted once.
 */
#include "encode/folded_room.h"

#include "encode/names.h"

#include <errno.h>
#include <string.h>

/* A blank, a number, the end of the line, and the NUL that a line has until it is sent. */
enum { LINE_BYTES = sizeof(" 18446744073709551615\n") };

struct line_of {
	uint32_t account, comm, node;
};

struct account {
	uint32_t account;
	size_t bytes, short_bytes; /* of its lines; of the short lines in their place */
	bool gives_way;
};

struct accounts {
	struct account *items;
	size_t count, bytes; /* of all accounts, as shortened so far */
};

static int compare(uint32_t a, uint32_t b)
{
	return a < b ? -1 : a > b;
}

static int by_account(const void *left, const void *right)
{
	const struct line_of *a = left, *b = right;

	return compare(a->account, b->account)
	               ?: compare(a->comm, b->comm) ?: compare(a->node, b->node);
}

static size_t list_lines(const struct folded_paths *paths, struct line_of *ret_lines)
{
	const struct profile *profile = paths->profile;
	size_t count = 0;

	for (uint32_t i = 1; i < profile->sample_count; i++) {
		const struct sample *sample = &profile->samples[i];
		const struct task *task = &profile->tasks[sample->task];

		if (sample->values[paths->value])
			ret_lines[count++] = (struct line_of){task->account, task->comm,
			                                      paths->nodes[sample->node]};
	}
	qsort(ret_lines, count, sizeof(*ret_lines), by_account);
	return count;
}

/* The length of each path, with a semicolon before each name. */
static void measure_paths(const struct profile *names, size_t *ret_lengths)
{
	ret_lengths[0] = 0;
	for (uint32_t i = 1; i < names->node_count; i++) {
		const struct node *node = &names->nodes[i];
		uint32_t name = (uint32_t)names->locations[node->location].address;

		ret_lengths[i] =
			ret_lengths[node->parent] + 1 + strlen(profile_string(names, name));
	}
}

static size_t comm_length(const struct profile *profile, uint32_t string, struct buf *scratch)
{
	const char *comm = profile_string(profile, string);

	buf_clear(scratch);
	add_word(scratch, *comm ? comm : UNNAMED, ';');
	return scratch->len;
}

static void add_up(const struct folded_paths *paths, const struct line_of *lines, size_t count,
                   const size_t *lengths, struct buf *scratch, struct accounts *accounts)
{
	const struct line_of *last = NULL;
	struct account *account = NULL;
	size_t comm = 0;

	for (const struct line_of *line = lines; line < lines + count; last = line++) {
		bool other = !last || line->account != last->account;

		if (other) {
			account = &accounts->items[accounts->count++];
			account->account = line->account;
		}
		if (other || line->comm != last->comm) {
			comm = comm_length(paths->profile, line->comm, scratch) + LINE_BYTES;
			account->short_bytes += comm + strlen(";" TOO_LONG);
		} else if (line->node == last->node) {
			continue;
		}
		account->bytes += comm + lengths[line->node];
		accounts->bytes += comm + lengths[line->node];
	}
}

/* The account with the longest lines, of those that are not shortened and can be; NULL: there is
 * none. */
static struct account *find_longest(struct accounts *accounts)
{
	struct account *longest = NULL;

	for (struct account *account = accounts->items; account < accounts->items + accounts->count;
	     account++)
		if (!account->gives_way && account->bytes > account->short_bytes &&
		    (!longest || account->bytes > longest->bytes))
			longest = account;
	return longest;
}

static int give_way(struct accounts *accounts, size_t max_bytes)
{
	size_t whole = accounts->count;

	while (accounts->bytes > max_bytes) {
		struct account *longest = find_longest(accounts);

		if (!longest || whole <= 1)
			return -EFBIG;
		longest->gives_way = true;
		accounts->bytes -= longest->bytes - longest->short_bytes;
		whole--;
	}
	return 0;
}

static int compare_account(const void *key, const void *item)
{
	const struct account *account = item;

	return compare(*(const uint32_t *)key, account->account);
}

static void mark_tasks(const struct profile *profile, const struct accounts *accounts,
                       bool *gives_way)
{
	for (uint32_t i = 0; i < profile->task_count; i++) {
		const struct account *account =
			bsearch(&profile->tasks[i].account, accounts->items, accounts->count,
		                sizeof(*accounts->items), compare_account);

		gives_way[i] = account && account->gives_way;
	}
}

int folded_give_way(const struct folded_paths *paths, size_t max_bytes, bool *gives_way)
{
	size_t samples = paths->profile->sample_count, count;
	_cleanup_free_ struct line_of *lines = calloc(samples, sizeof(*lines));
	_cleanup_free_ size_t *lengths = calloc(paths->names->node_count, sizeof(*lengths));
	_cleanup_free_ struct account *items = calloc(samples, sizeof(*items));
	_cleanup_(buf_release) struct buf scratch = BUF_INIT;
	struct accounts accounts = {.items = items};
	int err;

	if (!lines || !lengths || !items)
		return -ENOMEM;
	count = list_lines(paths, lines);
	measure_paths(paths->names, lengths);
	add_up(paths, lines, count, lengths, &scratch, &accounts);
	err = buf_error(&scratch);
	if (!err)
		err = give_way(&accounts, max_bytes);
	if (!err)
		mark_tasks(paths->profile, &accounts, gives_way);
	return err;
}
