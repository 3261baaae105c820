/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct stack_index - the stack nodes of a drained half by their key, and the chains of them
 * unrolled. Pure; the half outlives it.
 */
#pragma once

#include "base/cleanup.h"
#include "collect/bpf.h"

struct stack_index {
	const struct drained *drained;
	uint32_t *slots; /* open addressing over place + 1; 0 is free */
	size_t mask;
};

int stack_index_build(struct stack_index *index, const struct drained *drained); /* or -ENOMEM */
void stack_index_release(struct stack_index *index); /* also of one that is all zero */
/* The words of a stack, leaf first, and how many; at most MAX_STACK_FRAMES. `*ret_whole` is false
 * when a part was missing. */
size_t stack_index_words(const struct stack_index *index, uint64_t key, uint64_t *words,
                         bool *ret_whole);
