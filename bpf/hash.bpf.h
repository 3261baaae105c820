/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The hash of bpf/hash.h with the key of this start.
 */
#pragma once

#include "bpf/hash.h"
#include "bpf/kernel.bpf.h"

#include <bpf/bpf_helpers.h>

extern const volatile struct hash_key hash_key; /* set before load */

static __always_inline u64 mix_first(u64 word, u64 next)
{
	return hash_mix(&hash_key, hash_begin(&hash_key, word), next);
}

static __always_inline u64 mix(u64 hash, u64 word)
{
	return hash_mix(&hash_key, hash, word);
}
