/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct dwarf_units - maps an address to the unit of a file's DWARF that describes its code. It is
 * built from the units themselves, because some compilers omit .debug_aranges, possibly for some
 * units only.
 */
#pragma once

#include "base/cleanup.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Code of one unit. */
struct unit_range {
	uint64_t start, end;
	uint32_t unit;
};

struct dwarf_units {
	Dwarf_Off *offsets; /* of each unit's DIE in .debug_info */
	size_t count, capacity;
	struct unit_range *ranges; /* disjoint, ascending */
	size_t range_count, range_capacity;
};

/* Reads all units. Broken units, and all units after a broken header, are left out. 0 or
 * -ENOMEM. */
int dwarf_units_read(Dwarf *dwarf, Elf *elf, struct dwarf_units *ret_units);
void dwarf_units_release(struct dwarf_units *units);
/* The index of the unit that covers the address; false when there is none. */
bool dwarf_units_find(const struct dwarf_units *units, uint64_t address, uint32_t *ret_unit);
