/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The functions from which gpu_truth allocates, one of each name, and what frees of each.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct family {
	const char *name;
	bool on_host;
	/* Allocates about so much on the thread's device, and says how much it was. */
	int (*take)(uint64_t *ret_at, uint64_t size, uint64_t *ret_bytes);
	int (*give)(uint64_t at);
};

/* Those of the driver only come last. */
enum { SIX, THREE, ONE, PEAK, CHURN, FIRST_FAMILY, RUNTIME_FAMILIES = 11, FAMILIES = 17 };
extern const struct family families[FAMILIES];

extern bool by_runtime;          /* the runtime's functions, where there are such */
extern _Thread_local int device; /* the thread's */

/* What site_six and its like are freed by. */
int give(uint64_t at);
int wants_too_much(uint64_t *ret_at, uint64_t size, uint64_t *ret_bytes);
