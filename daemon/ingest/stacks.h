/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct stack_index - finds the stack nodes of a drained half by their keys, and unrolls chains of
 * nodes. Pure; the half outlives it.
 */
#pragma once

#include "base/cleanup.h"
#include "kernel/bpf.h"

struct stack_index {
	const struct drained *drained;
	uint32_t *slots; /* open addressing; a node's position + 1, 0 is free */
	size_t mask;
};

int stack_index_build(struct stack_index *index, const struct drained *drained); /* 0 or -ENOMEM */
void stack_index_release(struct stack_index *index); /* also of one that is all zero */
/* Copies the words of a stack, leaf first. Returns their number, at most MAX_STACK_FRAMES.
 * `*ret_whole` is false if a part was missing. */
size_t stack_index_words(const struct stack_index *index, uint64_t key, uint64_t *words,
                         bool *ret_whole);
