/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Keeps pages in a list, because a recorded stack has few.
 */
#include "tests/bpf/memory.h"

#include <errno.h>
#include <string.h>

enum { BYTES = 4096 };

struct page {
	struct page *next;
	u64 number;
	u64 words[BYTES / sizeof(u64)];
};

struct memory {
	struct page *pages;
};

struct memory *memory_new(void)
{
	return calloc(1, sizeof(struct memory));
}

void memory_free(struct memory *memory)
{
	struct page *page = memory ? memory->pages : NULL;

	while (page) {
		struct page *next = page->next;

		free(page);
		page = next;
	}
	free(memory);
}

static struct page *find(const struct memory *memory, u64 number)
{
	for (struct page *page = memory->pages; page; page = page->next)
		if (page->number == number)
			return page;
	return NULL;
}

int memory_put(struct memory *memory, u64 address, u64 word)
{
	struct page *page = find(memory, address / BYTES);

	if (!page) {
		page = calloc(1, sizeof(*page));
		if (!page)
			return -ENOMEM;
		page->number = address / BYTES;
		page->next = memory->pages;
		memory->pages = page;
	}
	page->words[address % BYTES / sizeof(u64)] = word;
	return 0;
}

int memory_read(u64 address, void *into, size_t len, void *ctx)
{
	const struct memory *memory = ctx;
	char *to = into;

	while (len > 0) {
		const struct page *page = find(memory, address / BYTES);
		size_t offset = address % BYTES;
		size_t part = len < BYTES - offset ? len : BYTES - offset;

		if (!page)
			return -EFAULT;
		memcpy(to, (const char *)page->words + offset, part);
		to += part;
		address += part;
		len -= part;
	}
	return 0;
}
