/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct dwarf_scopes - functions and inlined calls of them, found for many addresses of a unit by
 * one walk over its DIEs. Strings are libdw's, and live until the Dwarf handle is ended.
 */
#pragma once

#include "base/cleanup.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NO_SCOPE = UINT32_MAX };

/* A function's code, or that of one call of it which was inlined. */
struct dwarf_scope {
	const char *name;      /* NULL: none */
	const char *call_file; /* where the call is; NULL: not known, or not inlined */
	uint64_t entry;        /* where the code begins; 0: not known, or inlined */
	uint32_t call_line, start_line;
	uint32_t caller; /* the scope that it is inlined into; NO_SCOPE: it is not */
};

struct dwarf_scopes {
	struct dwarf_scope *items; /* callers before what is inlined into them */
	size_t count, capacity;
};

/* Adds the scopes that hold one of `count` ascending addresses of a unit (of a split one, the DIE
 * in the .dwo file), and sets innermost[i] to the index of the innermost one of each, NO_SCOPE
 * where there is none. 0 or -ENOMEM. */
int dwarf_scopes_find(struct dwarf_scopes *scopes, Dwarf_Die *unit, const uint64_t *addresses,
                      size_t count, uint32_t *innermost);
void dwarf_scopes_release(struct dwarf_scopes *scopes);
