/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * FNV-1a, 64 bits (Fowler, Noll, Vo; the parameters are theirs): a hash of bytes that is the same
 * on every machine and in every run. An attacker that chooses the bytes can make two hashes equal,
 * so tables with keys from outside start the hash with a secret instead.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define HASH_START 0xcbf29ce484222325ULL

/* A secret of this process, the same at each call: a hash starts with it or is mixed with it. Any
 * thread. */
uint64_t hash_seed(void);

/* Adds bytes to a hash, which starts as HASH_START. */
static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3ULL;
	return hash;
}
