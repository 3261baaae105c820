/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * uthash, as every hash table of the daemon uses it. Users choose paths, names and file keys, and
 * uthash's own hash has no secret: two keys that collide in it collide everywhere, and many of them
 * make one slow chain. XXH3 with the seed of this process leaves no way to choose such keys.
 * Without memory, HASH_ADD leaves the entry's hh.tbl NULL; the program goes on.
 */
#pragma once

#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define HASH_NONFATAL_OOM 1
#define HASH_FUNCTION(key, len, hash) \
	(hash) = (unsigned int)XXH3_64bits_withSeed(key, len, hash_seed())
#include <uthash.h>
