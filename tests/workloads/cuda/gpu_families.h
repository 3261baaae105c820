/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The functions from which gpu_truth allocates, by name, each with the function that frees.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct family {
	const char *name;
	bool on_host;
	/* Allocates about `size` bytes on the thread's device; ret_bytes is the exact size. */
	int (*take)(uint64_t *ret_at, uint64_t size, uint64_t *ret_bytes);
	int (*give)(uint64_t at);
};

/* Families that only the driver has come last. */
enum { SIX, THREE, ONE, PEAK, CHURN, FIRST_FAMILY, RUNTIME_FAMILIES = 11, FAMILIES = 17 };
extern const struct family families[FAMILIES];

extern bool by_runtime;          /* use the runtime's functions where they exist */
extern _Thread_local int device; /* the thread's device */

/* Frees blocks of site_six and similar sites. */
int give(uint64_t at);
int wants_too_much(uint64_t *ret_at, uint64_t size, uint64_t *ret_bytes);
