/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One step of the hash that keys of stack nodes and names of code objects are made with.
 */
#pragma once

#include "bpf/kernel.bpf.h"

static __always_inline u64 mix(u64 hash, u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
	return hash ^ (hash >> 29);
}
