/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Own addresses are divided, not offsets in the text, so a piece begins at the same address in
 * every process, wherever a file is mapped.
 */
#include "unwind/pieces.h"

#include "base/bounds.h"

#include <errno.h>

/* A debug file holds none of its text; its headers say where the text would be. */
static uint64_t bytes_of(const struct segment *segment)
{
	return segment->file_bytes && segment->file_bytes < segment->memory_bytes
	               ? segment->file_bytes
	               : segment->memory_bytes;
}

/* The part of the text that has code. The whole text when the sections say nothing sensible. */
static struct range code_of(const struct elf *elf, struct range text)
{
	struct range code = text;
	uint64_t start, end;

	if (!elf_code(elf, &start, &end))
		return text;
	if (start > code.start)
		code.start = start;
	if (end < code.end)
		code.end = end;
	return code.start < code.end ? code : text;
}

int text_of_elf(const struct elf *elf, struct range *ret_text)
{
	struct range text = {UINT64_MAX, 0};
	size_t count;
	const struct segment *segments = elf_segments(elf, &count);

	for (size_t i = 0; i < count; i++) {
		uint64_t start = segments[i].address, end;

		if (!segments[i].executable)
			continue;
		if (__builtin_add_overflow(start, bytes_of(&segments[i]), &end))
			end = UINT64_MAX;
		text.start = start < text.start ? start : text.start;
		text.end = end > text.end ? end : text.end;
	}
	if (text.start >= text.end)
		return -ENODATA;
	*ret_text = code_of(elf, text);
	return 0;
}

/* How much of the text is in the file. The sizes that headers claim cost the writer of the file
 * nothing, but each piece takes a descriptor. A segment whose last byte is not in the file is not
 * counted. */
static uint64_t bytes_in_file(const struct elf *elf)
{
	uint64_t bytes = 0, offset;
	size_t count;
	const struct segment *segments = elf_segments(elf, &count);

	for (size_t i = 0; i < count; i++) {
		uint64_t last = segments[i].file_bytes - 1;

		if (segments[i].executable && segments[i].file_bytes &&
		    elf_offset(elf, segments[i].address + last, &offset) &&
		    offset == segments[i].offset + last &&
		    __builtin_add_overflow(bytes, segments[i].file_bytes, &bytes))
			bytes = UINT64_MAX;
	}
	return bytes;
}

struct pieces pieces_of(const struct elf *elf)
{
	struct pieces whole = {.count = 1}, pieces;
	struct range text;

	if (text_of_elf(elf, &text) || text.end - text.start <= PIECE_BYTES)
		return whole;
	/* The segments are far apart, which no linker does, or are not in the file. */
	if ((text.end - text.start) / 2 > bytes_in_file(elf))
		return whole;
	pieces.first = text.start >> PIECE_BITS;
	uint64_t count = ((text.end - 1) >> PIECE_BITS) - pieces.first + 1;
	if (count > MAX_PIECES)
		return whole;
	pieces.count = (uint32_t)count;
	return pieces;
}

struct range piece_range(const struct pieces *pieces, uint32_t number)
{
	uint64_t start = (pieces->first + number) << PIECE_BITS;

	if (pieces->count == 1)
		return (struct range){0, UINT64_MAX};
	return (struct range){start,
	                      start + PIECE_BYTES - 1 < start ? UINT64_MAX : start + PIECE_BYTES};
}

void pieces_map(const struct pieces *pieces, struct unwind_mapping *mapping)
{
	uint64_t own = mapping->start - mapping->bias, first = pieces->first << PIECE_BITS, skip;

	if (pieces->count == 1)
		return;
	if (own < first && first - own >= mapping->end - mapping->start) {
		mapping->table = 0;
		return;
	}
	if (own < first) {
		mapping->start += first - own;
		own = first;
	}
	skip = (own >> PIECE_BITS) - pieces->first;
	if (skip >= pieces->count)
		skip = pieces->count - 1;
	mapping->table += (u32)skip;
	mapping->pieces = pieces->count - 1 - (u32)skip;
}
