/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A step of the search reads one pair of numbers: some twenty reads, mostly of pages that the
 * kernel has in memory.
 */
#include "cfi/frame_index.h"

#include "elf/dwarf.h"

enum {
	/* Four bytes of encodings, the pointer to .eh_frame, the count. */
	HEADER_BYTES = 12,
	VERSION = 1,
	POINTERS = DW_EH_PE_pcrel | DW_EH_PE_sdata4,
	COUNTS = DW_EH_PE_udata4,
	TABLE = DW_EH_PE_datarel | DW_EH_PE_sdata4,
	BATCH = 256,
};

struct header {
	uint8_t version, pointers, counts, table;
	int32_t frames;
	uint32_t count;
};
_Static_assert(sizeof(struct header) == HEADER_BYTES, "as in the file");

/* Both are relative to the header. */
struct pair {
	int32_t start, entry;
};

bool frame_index_open(const struct elf *elf, struct frame_index *ret_index)
{
	const struct segment *segment = elf_frame_index(elf);
	struct header header;

	if (!segment || segment->file_bytes < sizeof(header) ||
	    elf_read_address(elf, segment->address, &header, sizeof(header)) < 0 ||
	    header.version != VERSION || header.pointers != POINTERS || header.counts != COUNTS ||
	    header.table != TABLE || !header.count ||
	    header.count > (segment->file_bytes - sizeof(header)) / sizeof(struct pair))
		return false;
	/* The index does not cover .debug_frame. The segments of a debug file hold no contents. */
	if (elf_has_sections(elf) &&
	    (elf_has_section(elf, ".debug_frame") || !elf_has_section(elf, ".eh_frame")))
		return false;
	*ret_index = (struct frame_index){
		.elf = elf,
		.address = segment->address,
		.frames = segment->address + offsetof(struct header, frames) +
	                  (uint64_t)header.frames,
		.count = header.count,
	};
	return true;
}

size_t frame_index_read(const struct frame_index *index, size_t first, struct frame_place *ret,
                        size_t count)
{
	struct pair pairs[BATCH];

	count = count < BATCH ? count : BATCH;
	if (first >= index->count)
		return 0;
	count = count < index->count - first ? count : index->count - first;
	if (elf_read_address(index->elf,
	                     index->address + sizeof(struct header) + first * sizeof(*pairs), pairs,
	                     count * sizeof(*pairs)) < 0)
		return 0;
	for (size_t i = 0; i < count; i++)
		ret[i] = (struct frame_place){index->address + (uint64_t)pairs[i].start,
		                              index->address + (uint64_t)pairs[i].entry};
	return count;
}

size_t frame_index_find(const struct frame_index *index, uint64_t address)
{
	size_t low = 0, left = index->count;
	struct frame_place place;

	while (left > 1) {
		size_t half = left / 2;

		if (frame_index_read(index, low + half, &place, 1) && place.start <= address)
			low += half;
		left -= half;
	}
	return low;
}
