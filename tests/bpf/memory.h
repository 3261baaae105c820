/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct memory - the memory of an imaginary process, in pages of words. A page exists once a word
 * was put into it; its other words are 0.
 */
#pragma once

#include "base/cleanup.h"
#include "tests/bpf/walker.h"

struct memory;

struct memory *memory_new(void); /* NULL when out of memory */
void memory_free(struct memory *memory);
DEFINE_CLEANUP(struct memory *, memory_free)

/* `address` must be a multiple of a word. -ENOMEM. */
int memory_put(struct memory *memory, u64 address, u64 word);
/* A walker_read_fn; ctx is the memory. */
int memory_read(u64 address, void *into, size_t len, void *ctx);
