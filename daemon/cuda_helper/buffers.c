/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cuda_helper/buffers.h"

#include <stdbool.h>
#include <stdlib.h>

static struct {
	bool taken;
	uint8_t *bytes;
} buffers[BUFFERS];

static bool take(size_t at)
{
	return !__atomic_test_and_set(&buffers[at].taken, __ATOMIC_ACQUIRE);
}

static void leave(size_t at)
{
	__atomic_clear(&buffers[at].taken, __ATOMIC_RELEASE);
}

/* Atomic, because buffers_put() compares addresses of buffers that its thread has not taken. */
static void set(size_t at, uint8_t *bytes)
{
	__atomic_store_n(&buffers[at].bytes, bytes, __ATOMIC_RELAXED);
}

uint8_t *buffers_get(void)
{
	for (size_t i = 0; i < BUFFERS; i++) {
		if (!take(i))
			continue;
		if (!buffers[i].bytes)
			set(i, malloc(BUFFER_BYTES));
		if (buffers[i].bytes)
			return buffers[i].bytes;
		leave(i);
		return NULL;
	}
	return NULL;
}

void buffers_put(const uint8_t *buffer)
{
	for (size_t i = 0; buffer && i < BUFFERS; i++)
		if (__atomic_load_n(&buffers[i].bytes, __ATOMIC_RELAXED) == buffer)
			leave(i);
}

void buffers_shrink(void)
{
	for (size_t i = 0; i < BUFFERS; i++) {
		if (!take(i))
			continue;
		free(buffers[i].bytes);
		set(i, NULL);
		leave(i);
	}
}
