/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct dwarf_rows - the line table of one unit: the source line of the instruction at an address.
 * libdw owns the memory; it stays until the Dwarf handle is ended.
 */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf_rows {
	Dwarf_Lines *lines;
	size_t count;
};

/* Without rows when the unit has no table, or a broken one. */
struct dwarf_rows dwarf_rows_load(Dwarf_Die *unit);
/* Whether a row covers the address. The line is 0 when the compiler gives none. */
bool dwarf_rows_find(const struct dwarf_rows *rows, uint64_t address, const char **ret_file,
                     uint32_t *ret_line);
