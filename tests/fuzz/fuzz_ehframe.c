/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as an ELF file with call frame information, and as the information itself in both
 * forms, so that mutations reach the instructions without getting through the headers. Rows must
 * ascend and not overlap for any bytes.
 */
#include "base/cleanup.h"
#include "cfi/ehframe.h"
#include "cfi/frame_section.h"
#include "cfi/function_bounds.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int check_row(const struct frame_row *row, void *ctx)
{
	uint64_t *covered = ctx;

	if (row->start < *covered || row->start >= row->end)
		abort();
	*covered = row->end;
	return 0;
}

static int see_address(uint64_t address, void *ctx)
{
	(void)address;
	(void)ctx;
	return 0;
}

static void check_bounds(const struct elf *elf)
{
	static const uint64_t addresses[] = {0,      0x1000,   0x1001,    0x1200,
	                                     0x1fff, 0x401000, UINT64_MAX};
	enum { COUNT = sizeof(addresses) / sizeof(addresses[0]) };
	struct bounds bounds[COUNT];

	if (function_bounds(elf, addresses, COUNT, bounds) < 0)
		return;
	for (size_t i = 0; i < COUNT; i++) {
		if (bounds[i].end &&
		    (addresses[i] < bounds[i].start || addresses[i] >= bounds[i].end))
			abort();
	}
}

static void as_file(const uint8_t *data, size_t size)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	uint64_t covered = 0, word;

	if (elf_open_bytes(data, size, &elf) < 0)
		return;
	ehframe_each_row(elf, check_row, &covered);
	covered = 0;
	ehframe_each_row_of(elf, 0x1100, 0x1300, check_row, &covered);
	check_bounds(elf);
	elf_each_relative(elf, see_address, NULL);
	elf_read_address(elf, elf_entry(elf), &word, sizeof(word));
}

struct target {
	const struct frame_section *section;
	struct cie_cache cache;
};

static int read_entry(size_t offset, void *ctx)
{
	struct target *target = ctx;
	struct frame_entry entry;

	if (frame_section_read(target->section, offset, &target->cache, &entry) == 0) {
		uint64_t covered = entry.start;

		cfi_each_row(entry.common, &entry.code, entry.start, entry.end, check_row,
		             &covered);
		if (covered > entry.end)
			abort();
	}
	return 0;
}

static void as_section(const uint8_t *data, size_t size, bool debug)
{
	struct frame_section section = {
		.bytes = data, .len = size, .address = 0x1000, .debug = debug, .fp_register = 6};
	struct target target = {.section = &section};

	cie_cache_init(&target.cache);
	frame_section_each(&section, read_entry, &target);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	as_file(data, size);
	as_section(data, size, false);
	as_section(data, size, true);
	return 0;
}
