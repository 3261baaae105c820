/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What is asked of single DIEs, and the walk over those of a unit, bounded whatever the file says.
 * Strings are libdw's, and live until the Dwarf handle is ended.
 */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_DIE_DEPTH = 256 }; /* deeper ones are left out; real code stays below 60 */

enum die_step { DIE_NEXT, DIE_CHILDREN, DIE_STOP };

/* Told a DIE and how deep it is below the root, its children first when it says so. */
typedef enum die_step die_fn(Dwarf_Die *die, size_t depth, void *ctx);
typedef bool die_range_fn(uint64_t start, uint64_t end, void *ctx); /* false: stop */

void die_walk(Dwarf_Die *root, die_fn *fn, void *ctx); /* all below the root */

/* Calls fn for each range of code that is not empty. */
void die_ranges(Dwarf_Die *die, die_range_fn *fn, void *ctx);
/* ... of all functions of a unit. */
void die_function_ranges(Dwarf_Die *unit, die_range_fn *fn, void *ctx);

const char *die_function_name(Dwarf_Die *die);          /* NULL: none */
uint32_t die_number(Dwarf_Die *die, unsigned int name); /* of the DIE or its origin; 0: none */
/* The file that this DIE itself names by a number in the unit's table; NULL: none. */
const char *die_file(Dwarf_Die *die, unsigned int name, Dwarf_Files *files);
