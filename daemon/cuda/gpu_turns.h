/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gpu_turns - whose files were inspected last. The user with the fewest recent turns is
 * next, so that a driver does not wait behind all files to which another user gave its name.
 * Initialize to zeroes. Loop thread only.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { GPU_TURNS_KEPT = 64 };

struct gpu_turns {
	uint32_t owners[GPU_TURNS_KEPT];
	size_t count; /* of all turns so far */
};

void gpu_turns_note(struct gpu_turns *turns, uint32_t owner);
/* How many of the last turns were this user's. */
size_t gpu_turns_of(const struct gpu_turns *turns, uint32_t owner);
