/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct image - one program that a process ran: from its exec (or fork) to the next exec. Loop
 * thread only.
 */
#pragma once

#include "proc/mapping_set.h"

#include <stdint.h>

enum { COMM_BYTES = 16 };

struct image {
	uint64_t start_mono_ns; /* 0: not known */
	uint32_t pid;
	char comm[COMM_BYTES]; /* of the main thread */
	/* Shared with the parent after a fork, until one of the two changes. */
	struct mapping_set *set;
};
