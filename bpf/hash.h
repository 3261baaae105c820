/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The hash that makes keys of stack nodes and signatures of code objects. A program chooses the
 * addresses that are hashed, so the hash has a key, drawn at each start: without the key a program
 * could produce two stacks with one id, or a stack with the id of another program's stack. It is
 * not a cryptographic hash and need not be: no hash value is shown to any user. Words have fewer
 * than 60 bits, so that no word can undo what another one has changed in the bits above those.
 */
#pragma once

#include "bpf/abi.h"

static inline __attribute__((always_inline)) u64 hash_begin(const volatile struct hash_key *key,
                                                            u64 word)
{
	return word ^ key->start;
}

static inline __attribute__((always_inline)) u64 hash_mix(const volatile struct hash_key *key,
                                                          u64 hash, u64 word)
{
	hash = (hash ^ word) * key->factor;
	return hash ^ (hash >> 29);
}
