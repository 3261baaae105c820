/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A hash table of bitmaps. The page that was used last is kept at hand, since most calls are about
 * it again.
 */
#include "follow/follow_marks.h"

#include "base/table.h"

#include <errno.h>

/* If there is no memory for the table, a page is left out and the caller gets an error. */

enum {
	PAGE_BITS = 12,
	PAGE_WORDS = (1 << PAGE_BITS) / 64,
	MAX_PAGES = 65536, /* 256 MiB of code; 36 MiB of bits */
};

struct page {
	uint64_t number;
	uint64_t words[PAGE_WORDS];
	UT_hash_handle hh;
};

struct marks {
	struct page *pages, *last;
};

struct marks *marks_new(void)
{
	return calloc(1, sizeof(struct marks));
}

void marks_free(struct marks *marks)
{
	struct page *page, *next;

	if (!marks)
		return;
	HASH_ITER (hh, marks->pages, page, next) {
		HASH_DEL(marks->pages, page);
		free(page);
	}
	free(marks);
}

static struct page *find(const struct marks *marks, uint64_t number)
{
	struct page *page;

	if (marks->last && marks->last->number == number)
		return marks->last;
	HASH_FIND(hh, marks->pages, &number, sizeof(number), page);
	return page;
}

int marks_set(struct marks *marks, uint64_t address)
{
	uint64_t number = address >> PAGE_BITS;
	struct page *page = find(marks, number);

	if (!page) {
		if (HASH_COUNT(marks->pages) >= MAX_PAGES)
			return -E2BIG;
		page = calloc(1, sizeof(*page));
		if (!page)
			return -ENOMEM;
		page->number = number;
		HASH_ADD(hh, marks->pages, number, sizeof(page->number), page);
		if (!page->hh.tbl) {
			free(page);
			return -ENOMEM;
		}
	}
	marks->last = page;
	page->words[address % (1 << PAGE_BITS) / 64] |= 1ULL << address % 64;
	return 0;
}

bool marks_test(const struct marks *marks, uint64_t address)
{
	const struct page *page = find(marks, address >> PAGE_BITS);

	return page && page->words[address % (1 << PAGE_BITS) / 64] >> address % 64 & 1;
}
