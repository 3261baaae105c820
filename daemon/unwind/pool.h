/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct pool - which elements of a fixed array are taken, in contiguous runs: first fit, in grains
 * of a fixed number of elements. The first grain is never given out, so that 0 means none. The
 * array itself is not touched.
 */
#pragma once

#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>

struct pool;

struct pool *pool_new(size_t elements, size_t grain); /* NULL when out of memory */
void pool_free(struct pool *pool);
DEFINE_CLEANUP(struct pool *, pool_free)

/* Takes a run of `count` elements, rounded up to a multiple of the grain. Returns its first
 * element; 0 when there is no such run. */
size_t pool_take(struct pool *pool, size_t count);
void pool_give(struct pool *pool, size_t first, size_t count);
size_t pool_free_elements(const struct pool *pool);
