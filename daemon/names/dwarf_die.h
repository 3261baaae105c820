/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Queries of single DIEs, and the walk over the DIEs of a unit, which is bounded for any file
 * contents. libdw owns the strings; they live until the Dwarf handle is ended.
 */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_DIE_DEPTH = 256 }; /* deeper DIEs are left out; real code stays below 60 */

enum die_step { DIE_NEXT, DIE_CHILDREN, DIE_STOP };

/* Called with each DIE and its depth below the root. DIE_CHILDREN: the walk visits the children of
 * the DIE next; DIE_NEXT: it skips them; DIE_STOP: it ends. */
typedef enum die_step die_fn(Dwarf_Die *die, size_t depth, void *ctx);
typedef bool die_range_fn(uint64_t start, uint64_t end, void *ctx); /* false: stop */

void die_walk(Dwarf_Die *root, die_fn *fn, void *ctx); /* walks the DIEs below the root */

/* Calls fn for each range of code of the DIE that is not empty. */
void die_ranges(Dwarf_Die *die, die_range_fn *fn, void *ctx);
/* Calls fn for each such range of all functions of a unit. */
void die_function_ranges(Dwarf_Die *unit, die_range_fn *fn, void *ctx);

const char *die_function_name(Dwarf_Die *die);          /* NULL: none */
uint32_t die_number(Dwarf_Die *die, unsigned int name); /* of the DIE or its origin; 0: none */
/* The file that this DIE itself, not its origin, gives as a number in the unit's table; NULL:
 * none. */
const char *die_file(Dwarf_Die *die, unsigned int name, Dwarf_Files *files);
