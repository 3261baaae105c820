/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What CUPTI writes its records to: a few buffers and no more. When all are with it, it drops
 * records. Any thread; no locks.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { BUFFERS = 16, BUFFER_BYTES = 128 << 10 };

/* NULL when there is none, or no memory. */
uint8_t *buffers_get(void);
void buffers_put(const uint8_t *buffer);
/* Gives back the memory of those that nobody has. */
void buffers_shrink(void);
