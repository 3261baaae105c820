/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A ring of the last turns.
 */
#include "cuda/gpu_turns.h"

void gpu_turns_note(struct gpu_turns *turns, uint32_t owner)
{
	turns->owners[turns->count++ % GPU_TURNS_KEPT] = owner;
}

size_t gpu_turns_of(const struct gpu_turns *turns, uint32_t owner)
{
	size_t count = 0;

	for (size_t i = 0; i < turns->count && i < GPU_TURNS_KEPT; i++)
		count += turns->owners[i] == owner;
	return count;
}
