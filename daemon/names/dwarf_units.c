/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The ranges of all units, made disjoint. When units overlap (folded functions, units without
 * ranges of their own), the range that begins last wins; of equal ranges that of the first unit.
 */
#include "names/dwarf_units.h"
#include "base/bounds.h"
#include "names/dwarf_die.h"

#include <dwarf.h>
#include <errno.h>
#include <gelf.h>
#include <string.h>

enum {
	MAX_UNITS = 1 << 20,       /* a browser has 40,000 */
	MAX_UNIT_RANGES = 4 << 20, /* one for each function in a section of its own; 96 MiB */
	MAX_WORK = 1 << 26,        /* a bound, because units can share ranges */
};

struct reader {
	struct dwarf_units *units;
	struct {
		uint64_t start, bytes;
	} code[MAX_SEGMENTS];
	size_t code_count;
	size_t work; /* ranges looked at */
	int err;
};

static void read_segments(struct reader *reader, Elf *elf)
{
	size_t count = 0;
	GElf_Phdr segment;

	if (elf_getphdrnum(elf, &count) < 0)
		return;
	for (size_t i = 0; i < count && reader->code_count < MAX_SEGMENTS; i++) {
		if (!gelf_getphdr(elf, (int)i, &segment))
			return;
		if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X))
			continue;
		reader->code[reader->code_count].start = segment.p_vaddr;
		reader->code[reader->code_count++].bytes = segment.p_memsz;
	}
}

/* Code that the linker dropped stays in the DWARF, at 0, at 1 or at the end of the address
 * space. */
static bool is_code(const struct reader *reader, uint64_t address)
{
	if (!reader->code_count)
		return true;
	for (size_t i = 0; i < reader->code_count; i++) {
		if (address > 1 && address >= reader->code[i].start &&
		    address - reader->code[i].start < reader->code[i].bytes)
			return true;
	}
	return false;
}

/* Makes room in `*array` for one more element of `size` bytes. */
static int grow(void *array, size_t count, size_t *capacity, size_t size)
{
	if (count < *capacity)
		return 0;
	size_t more = *capacity ? *capacity * 2 : 64;
	void *grown = reallocarray(*(void **)array, more, size);
	if (!grown)
		return -ENOMEM;
	*(void **)array = grown;
	*capacity = more;
	return 0;
}

static bool add_range(uint64_t start, uint64_t end, void *ctx)
{
	struct reader *reader = ctx;
	struct dwarf_units *units = reader->units;

	if (units->range_count == MAX_UNIT_RANGES || ++reader->work > MAX_WORK)
		return false;
	if (!is_code(reader, start))
		return true;
	reader->err = grow(&units->ranges, units->range_count, &units->range_capacity,
	                   sizeof(*units->ranges));
	if (reader->err < 0)
		return false;
	units->ranges[units->range_count++] =
		(struct unit_range){start, end, (uint32_t)units->count};
	return true;
}

static bool full(const struct reader *reader)
{
	return reader->err < 0 || reader->units->count == MAX_UNITS ||
	       reader->units->range_count == MAX_UNIT_RANGES || reader->work > MAX_WORK;
}

static void add_unit(struct reader *reader, Dwarf_CU *unit)
{
	struct dwarf_units *units = reader->units;
	size_t before = units->range_count;
	uint8_t type;
	Dwarf_Die die, split;

	memset(&split, 0, sizeof(split));
	if (dwarf_cu_info(unit, NULL, &type, &die, NULL, NULL, NULL, NULL) < 0 ||
	    (type != DW_UT_compile && type != DW_UT_skeleton))
		return;
	die_ranges(&die, add_range, reader);
	if (units->range_count == before && !full(reader)) {
		if (type == DW_UT_skeleton &&
		    dwarf_cu_info(unit, NULL, NULL, NULL, &split, NULL, NULL, NULL) == 0 &&
		    split.cu)
			die_function_ranges(&split, add_range, reader);
		else if (type == DW_UT_compile)
			die_function_ranges(&die, add_range, reader);
	}
	if (units->range_count == before || reader->err < 0)
		return;
	reader->err =
		grow(&units->offsets, units->count, &units->capacity, sizeof(*units->offsets));
	if (reader->err == 0)
		units->offsets[units->count++] = dwarf_dieoffset(&die);
}

/* Of ranges with the same start, longer ones come first, so that they precede what they contain. Of
 * equal ranges the one of the first unit comes last. */
static int by_start(const void *left, const void *right)
{
	const struct unit_range *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return (a->unit < b->unit) - (a->unit > b->unit);
}

static void emit(struct dwarf_units *flat, uint64_t start, uint64_t end, uint32_t unit)
{
	struct unit_range *last = flat->ranges + flat->range_count - 1;

	if (start >= end)
		return;
	if (flat->range_count && last->unit == unit && last->end == start)
		last->end = end;
	else
		flat->ranges[flat->range_count++] = (struct unit_range){start, end, unit};
}

/* A range that begins later wins until it ends; then the range that it interrupted continues. */
static int flatten(struct dwarf_units *units)
{
	size_t count = units->range_count, depth = 0;
	struct dwarf_units flat = {0};
	uint64_t place = 0;

	if (!count)
		return 0;
	_cleanup_free_ struct unit_range *open = malloc(count * sizeof(*open));
	flat.ranges = malloc(2 * count * sizeof(*flat.ranges));
	if (!open || !flat.ranges) {
		free(flat.ranges);
		return -ENOMEM;
	}
	qsort(units->ranges, count, sizeof(*units->ranges), by_start);
	for (size_t i = 0; i <= count; i++) {
		uint64_t next = i < count ? units->ranges[i].start : UINT64_MAX;
		while (depth && place < next) {
			const struct unit_range *top = &open[depth - 1];
			uint64_t until = top->end < next ? top->end : next;
			emit(&flat, place, until, top->unit);
			place = until > place ? until : place;
			if (top->end <= place)
				depth--;
		}
		place = next;
		if (i < count)
			open[depth++] = units->ranges[i];
	}
	free(units->ranges);
	units->ranges = flat.ranges;
	units->range_count = flat.range_count;
	units->range_capacity = 2 * count;
	return 0;
}

int dwarf_units_read(Dwarf *dwarf, Elf *elf, struct dwarf_units *ret_units)
{
	struct dwarf_units units = {0};
	struct reader reader = {.units = &units};
	Dwarf_CU *unit = NULL;

	read_segments(&reader, elf);
	while (!full(&reader) && dwarf_get_units(dwarf, unit, &unit, NULL, NULL, NULL, NULL) == 0)
		add_unit(&reader, unit);
	if (reader.err == 0)
		reader.err = flatten(&units);
	if (reader.err < 0) {
		dwarf_units_release(&units);
		return reader.err;
	}
	*ret_units = units;
	return 0;
}

void dwarf_units_release(struct dwarf_units *units)
{
	free(units->offsets);
	free(units->ranges);
	*units = (struct dwarf_units){0};
}

bool dwarf_units_find(const struct dwarf_units *units, uint64_t address, uint32_t *ret_unit)
{
	size_t low = 0, high = units->range_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (units->ranges[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address >= units->ranges[low - 1].end)
		return false;
	*ret_unit = units->ranges[low - 1].unit;
	return true;
}
