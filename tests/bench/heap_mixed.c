/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Some 100,000 allocations a second of 16 bytes to 4 KiB, and work on their contents, as a server
 * does it.
 */
#include <stdint.h>
#include <string.h>

#include "tests/bench/heap_work.h"

#define HELD 4096

static struct {
	uint8_t *bytes;
	size_t size;
} held[HELD];
static uint32_t state = 1;
static volatile uint32_t sum;

static uint32_t draw(void)
{
	state = state * 1664525 + 1013904223;
	return state >> 8;
}

static uint32_t hash(const uint8_t *bytes, size_t size)
{
	uint32_t value = 2166136261;

	for (int turn = 0; turn < 4; turn++)
		for (size_t i = 0; i < size; i += 4)
			value = (value ^ bytes[i]) * 16777619;
	return value;
}

static void some(void)
{
	for (int i = 0; i < 500; i++) {
		size_t at = draw() % HELD;

		free(held[at].bytes);
		held[at].size = 16 + draw() % 4080;
		held[at].bytes = malloc(held[at].size);
		memset(held[at].bytes, i, held[at].size);
		for (int n = 0; n < 4; n++) {
			size_t other = draw() % HELD;

			if (held[other].bytes)
				sum += hash(held[other].bytes, held[other].size);
		}
	}
}

int main(int argc, char **argv)
{
	return work_for(argc, argv, some);
}
