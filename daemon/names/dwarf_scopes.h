/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct dwarf_scopes - functions and inlined calls, found for many addresses of a unit by one walk
 * over its DIEs. libdw owns the strings; they live until the Dwarf handle is ended.
 */
#pragma once

#include "base/cleanup.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NO_SCOPE = UINT32_MAX };

/* The code of a function, or the code of one inlined call of it. */
struct dwarf_scope {
	const char *name;      /* NULL: none */
	const char *call_file; /* file of the call; NULL: not known, or not inlined */
	uint64_t entry;        /* start of the code; 0: not known, or inlined */
	uint32_t call_line, start_line;
	uint32_t caller; /* the scope that it is inlined into; NO_SCOPE: not inlined */
};

struct dwarf_scopes {
	struct dwarf_scope *items; /* callers before the calls that are inlined into them */
	size_t count, capacity;
};

/* Adds the scopes that contain any of `count` ascending addresses of a unit, and sets innermost[i]
 * to the index of the innermost scope of each address; NO_SCOPE: there is none. For a split unit,
 * `unit` is the DIE in the .dwo file. 0 or -ENOMEM. */
int dwarf_scopes_find(struct dwarf_scopes *scopes, Dwarf_Die *unit, const uint64_t *addresses,
                      size_t count, uint32_t *innermost);
void dwarf_scopes_release(struct dwarf_scopes *scopes);
