/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The buffers to which CUPTI writes its records: a fixed number of them. When CUPTI holds all of
 * them, it drops records. Any thread; no locks.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { BUFFERS = 16, BUFFER_BYTES = 128 << 10 };

/* NULL when no buffer is free, or there is no memory. */
uint8_t *buffers_get(void);
void buffers_put(const uint8_t *buffer);
/* Frees the memory of the buffers that are not in use. */
void buffers_shrink(void);
