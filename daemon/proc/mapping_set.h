/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct mapping_set - the executable mappings of one address space, sorted by address, never
 * overlapping: a new mapping cuts away what it covers, as mmap does. Reference counted, because a
 * child shares its parent's after a fork; a change to a shared set makes a copy first. Loop thread
 * only.
 */
#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct proc_mapping {
	uint64_t start, end, offset; /* offset: in the file, of `start` */
	uint32_t object;             /* id in object/store.h, 0 for none */
	char *path; /* as the process sees it, or a bracketed name; "" for anonymous memory */
};

struct mapping_set;

struct mapping_set *mapping_set_new(void); /* NULL when out of memory */
struct mapping_set *mapping_set_ref(struct mapping_set *set);
void mapping_set_unref(struct mapping_set *set);
DEFINE_CLEANUP(struct mapping_set *, mapping_set_unref)

/* Adds a copy of `mapping`; *set may become another set. -ENOSPC over MAX_MAPPINGS, -EINVAL,
 * -ENOMEM. */
int mapping_set_add(struct mapping_set **set, const struct proc_mapping *mapping);
/* The mapping that holds an address, or NULL. */
const struct proc_mapping *mapping_set_find(const struct mapping_set *set, uint64_t address);
size_t mapping_set_count(const struct mapping_set *set);
const struct proc_mapping *mapping_set_at(const struct mapping_set *set, size_t index);
/* The same mappings of the same objects. */
bool mapping_set_equal(const struct mapping_set *a, const struct mapping_set *b);
/* A number that no two sets of different contents ever have. */
uint64_t mapping_set_serial(const struct mapping_set *set);
