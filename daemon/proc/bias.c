/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A file's own addresses are linear within one segment only. A mapping begins at a page boundary,
 * so it may begin before its segment, in bytes that belong to another segment at another address.
 * The executable segment that covers most of the mapping decides.
 */
#include "proc/bias.h"

/* Bytes of a segment that are in [from, to) of the file. */
static uint64_t common_bytes(const struct segment *segment, uint64_t from, uint64_t to)
{
	uint64_t start = segment->offset > from ? segment->offset : from, end;

	if (__builtin_add_overflow(segment->offset, segment->file_bytes, &end) || end > to)
		end = to;
	return start < end ? end - start : 0;
}

bool bias_of_mapping(const struct object *object, const struct proc_mapping *mapping,
                     uint64_t *ret_bias)
{
	uint64_t from = mapping->offset, to, most = 0, own;
	size_t count;
	const struct segment *segments = elf_segments(object->elf, &count);

	if (__builtin_add_overflow(from, mapping->end - mapping->start, &to))
		return false;
	for (size_t i = 0; i < count; i++) {
		uint64_t common = common_bytes(&segments[i], from, to);

		if (!segments[i].executable || common <= most)
			continue;
		most = common;
		own = segments[i].address + (from - segments[i].offset);
	}
	if (!most && !object_address(object, from, &own))
		return false;
	*ret_bias = mapping->start - own;
	return true;
}
