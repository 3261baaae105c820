/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct dwarf_units - which unit of a file's DWARF describes the code at an address. Made from the
 * units themselves: .debug_aranges is left out by some compilers, and then for some units only.
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

/* Reads them all; broken ones, and what follows a broken header, are left out. 0 or -ENOMEM. */
int dwarf_units_read(Dwarf *dwarf, Elf *elf, struct dwarf_units *ret_units);
void dwarf_units_release(struct dwarf_units *units);
/* The unit's index, if one covers the address. */
bool dwarf_units_find(const struct dwarf_units *units, uint64_t address, uint32_t *ret_unit);
