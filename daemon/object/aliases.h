/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct aliases - what files are recognized by: a key that the kernel names one with, or what
 * fstat() says of it, to the id of an object. Bounded; the one that came first goes first. Under
 * its owner's lock (object/store.c).
 */
#pragma once

#include "object/stamp.h"

#include "base/table.h"

#include <stddef.h>
#include <stdint.h>

/* Without memory for a table an entry is left out; the file is then opened again next time. */

enum alias_kind { ALIAS_KEY = 1, ALIAS_FILE, ALIAS_VDSO };

/* Only 64-bit words, because it is hashed and compared as bytes. Of kind 0 it is no name. */
struct alias_name {
	uint64_t kind, words[5];
};

struct alias {
	struct alias_name name;
	uint32_t id;
	struct stamp stamp; /* of the file, which need not be the object's: that may be a copy */
	uint64_t added_ns;
	UT_hash_handle hh;
};

struct aliases {
	struct alias *by_name; /* uthash keeps the order in which they came */
	size_t max;
};

struct alias *aliases_find(const struct aliases *aliases, const struct alias_name *name);
/* Takes the place of what the name meant before; `now_ns` is kept as `added_ns`. */
void aliases_add(struct aliases *aliases, const struct alias_name *name, uint32_t id,
                 const struct stamp *stamp, uint64_t now_ns);
void aliases_drop(struct aliases *aliases, struct alias *alias);
void aliases_clear(struct aliases *aliases);
