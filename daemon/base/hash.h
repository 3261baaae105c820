/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * FNV-1a, 64 bits (Fowler, Noll, Vo; the parameters are theirs): a hash of bytes that is the same
 * on every machine and in every run. Whoever chooses the bytes can make two of them equal in it, so
 * tables whose keys others choose begin with a secret instead.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define HASH_START 0xcbf29ce484222325ULL

/* A secret of this process, the same at each call: what a hash begins with, or is mixed with. Any
 * thread. */
uint64_t hash_seed(void);

/* Goes on with a hash, which begins as HASH_START. */
static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3ULL;
	return hash;
}
