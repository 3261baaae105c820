/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From 3.11 on a constant holds the version. Older versions are recognized by a string such as
 * "cpython-38", which every interpreter contains, alone and in the names of the extensions that it
 * loads.
 */
#include "python/python_version.h"

#include <errno.h>
#include <string.h>

enum {
	CHUNK_BYTES = 64 * 1024,
	MOST_BYTES = 256 << 20, /* bound on the bytes of one file that are searched */
	FIRST_MINOR = 8,
	LAST_MINOR = 10, /* the last version without the constant */
	LEVEL_CANDIDATE = 0xc,
};

static const char tag[] = "cpython-3";
enum { TAG_BYTES = sizeof(tag) - 1, OVERLAP = TAG_BYTES + 3 };

bool python_is_release(uint64_t hex, uint32_t minor)
{
	return hex >> 16 == minor && (hex >> 4 & 0xf) >= LEVEL_CANDIDATE;
}

/* The number behind the tag; 0 unless it ends as in "cpython-38" or "cpython-38-x86_64". */
static unsigned int minor_after(const char *text)
{
	unsigned int minor = 0;
	size_t i = 0;

	for (; i < 2 && text[i] >= '0' && text[i] <= '9'; i++)
		minor = minor * 10 + (unsigned int)(text[i] - '0');
	return text[i] == '\0' || text[i] == '-' ? minor : 0;
}

/* Returns a bit for each minor version whose tag is found. */
static uint32_t find_tags(const char *bytes, size_t len)
{
	const char *at = bytes;
	uint32_t found = 0;

	while ((at = memmem(at, len - (size_t)(at - bytes), tag, TAG_BYTES)) &&
	       len - (size_t)(at - bytes) >= OVERLAP) {
		unsigned int minor = minor_after(at + TAG_BYTES);

		if (minor >= FIRST_MINOR && minor <= LAST_MINOR)
			found |= 1U << minor;
		at += TAG_BYTES;
	}
	return found;
}

/* Zeros follow the last bytes, so that a tag at the very end is recognized. */
static uint32_t find_in_segment(const struct elf *elf, const struct segment *segment, char *chunk,
                                uint64_t *left)
{
	uint32_t found = 0;

	for (uint64_t at = 0; at < segment->file_bytes && *left; at += CHUNK_BYTES - OVERLAP) {
		uint64_t len = segment->file_bytes - at;

		len = len < CHUNK_BYTES ? len : CHUNK_BYTES;
		memset(chunk + len, 0, OVERLAP);
		if (elf_read_address(elf, segment->address + at, chunk, len))
			break;
		found |= find_tags(chunk, len + (len < CHUNK_BYTES ? OVERLAP : 0));
		*left -= len < *left ? len : *left;
		if (len < CHUNK_BYTES)
			break;
	}
	return found;
}

static int find_by_tag(const struct elf *elf, uint32_t *ret_version)
{
	_cleanup_free_ char *chunk = malloc(CHUNK_BYTES + OVERLAP);
	uint64_t left = MOST_BYTES;
	uint32_t found = 0;
	size_t count;
	const struct segment *segments = elf_segments(elf, &count);

	if (!chunk)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		found |= find_in_segment(elf, &segments[i], chunk, &left);
	if (!found || found & (found - 1))
		return -ENOTSUP;
	*ret_version = 0x0300 | (uint32_t)__builtin_ctz(found);
	return 0;
}

int python_version_find(const struct elf *elf, uint64_t variable, uint32_t *ret_version)
{
	uint64_t hex;

	if (!variable)
		return find_by_tag(elf, ret_version);
	if (elf_read_address(elf, variable, &hex, sizeof(hex)))
		return -EBADMSG;
	if (!python_is_release(hex, (uint32_t)(hex >> 16 & 0xffff)))
		return -ENOTSUP;
	*ret_version = (uint32_t)(hex >> 16);
	return 0;
}
