/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The launches whose kernels are reported, by the correlation number that CUPTI gave them, with
 * what they stand for. Numbers only grow. So the oldest number of those that share a set of places
 * makes room: a launch is forgotten when thousands were chosen after it. Any thread; no locks.
 */
#pragma once

#include <stdint.h>

enum { CORRELATION_SETS = 4096, CORRELATION_WAYS = 4 };

struct correlations {
	uint64_t places[CORRELATION_SETS][CORRELATION_WAYS]; /* number << 32 | weight; 0 is free */
};

/* `weight` is not 0. */
void correlations_add(struct correlations *correlations, uint32_t number, uint32_t weight);
/* Forgets all: a new subscriber may get the same numbers again. */
void correlations_clear(struct correlations *correlations);
/* The number of launches that the launch stands for; 0: it was not chosen, or is forgotten. */
uint32_t correlations_find(const struct correlations *correlations, uint32_t number);
