/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kernel allocates memory for a page only when the page is written to.
 */
#include "cfi/frame_pages.h"

enum { GRAIN_BITS = 14, GRAIN_BYTES = 1 << GRAIN_BITS };

struct frame_pages {
	const struct elf *elf;
	uint64_t address;
	size_t len;
	uint8_t *bytes;
	bool *loaded; /* for each grain */
};

struct frame_pages *frame_pages_new(const struct elf *elf, uint64_t address, size_t len)
{
	struct frame_pages *pages = calloc(1, sizeof(*pages));

	if (!pages)
		return NULL;
	*pages = (struct frame_pages){.elf = elf, .address = address, .len = len};
	pages->bytes = calloc(len, 1);
	pages->loaded = calloc((len >> GRAIN_BITS) + 1, sizeof(*pages->loaded));
	if (!pages->bytes || !pages->loaded) {
		frame_pages_free(pages);
		return NULL;
	}
	return pages;
}

void frame_pages_free(struct frame_pages *pages)
{
	if (!pages)
		return;
	free(pages->bytes);
	free(pages->loaded);
	free(pages);
}

const uint8_t *frame_pages_bytes(const struct frame_pages *pages)
{
	return pages->bytes;
}

static bool load_grain(struct frame_pages *pages, size_t grain)
{
	size_t from = grain << GRAIN_BITS, left = pages->len - from;

	if (pages->loaded[grain])
		return true;
	pages->loaded[grain] =
		elf_read_address(pages->elf, pages->address + from, pages->bytes + from,
	                         left < GRAIN_BYTES ? left : GRAIN_BYTES) == 0;
	return pages->loaded[grain];
}

bool frame_pages_load(struct frame_pages *pages, size_t offset, size_t len)
{
	if (offset > pages->len || len > pages->len - offset || !len)
		return false;
	for (size_t grain = offset >> GRAIN_BITS; grain <= (offset + len - 1) >> GRAIN_BITS;
	     grain++)
		if (!load_grain(pages, grain))
			return false;
	return true;
}
