/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct aliases - maps what identifies a file to the id of an object. A file is identified by the
 * key that the kernel gives a mapping of it, or by what fstat() returns. Each entry is charged to
 * the user for whom it was added first. The table is bounded: when it is full, the user with most
 * entries loses the one that was used longest ago. The owner's lock protects it (object/store.c).
 */
#pragma once

#include "object/stamp.h"
#include "base/table.h"

#include <stddef.h>
#include <stdint.h>

/* If there is no memory to grow the table, the entry is left out and the file is opened again next
 * time. */

enum alias_kind { ALIAS_KEY = 1, ALIAS_FILE, ALIAS_VDSO };

/* Only 64-bit words, because the struct is hashed and compared as bytes. Kind 0 means no name. */
struct alias_name {
	uint64_t kind, words[5];
};

struct alias {
	struct alias_name name;
	uint32_t id;
	struct stamp stamp; /* of the file; the object may be of a copy of it */
	uint64_t added_ns;
	struct alias_user *user;
	struct alias *prev, *next; /* of the user, by use, the least recently used first */
	UT_hash_handle hh;
};

struct alias_user;

/* All zero except `max`: empty. */
struct aliases {
	struct alias *by_name;
	struct alias_user *by_user;
	size_t max; /* at least 1 */
};

/* Counts as a use. */
struct alias *aliases_find(struct aliases *aliases, const struct alias_name *name);
/* Replaces what the name meant before. `now_ns` is kept as `added_ns`. */
void aliases_add(struct aliases *aliases, uint32_t user, const struct alias_name *name, uint32_t id,
                 const struct stamp *stamp, uint64_t now_ns);
void aliases_drop(struct aliases *aliases, struct alias *alias);
void aliases_clear(struct aliases *aliases);
