/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct marks - a set of addresses, one bit each, in pages that are allocated when something in
 * them is marked.
 */
#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

struct marks;

struct marks *marks_new(void); /* NULL when out of memory */
void marks_free(struct marks *marks);
DEFINE_CLEANUP(struct marks *, marks_free)

/* -E2BIG when there would be too many pages, -ENOMEM. */
int marks_set(struct marks *marks, uint64_t address);
bool marks_test(const struct marks *marks, uint64_t address);
