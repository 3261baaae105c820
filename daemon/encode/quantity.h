/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Values as texts to read: "1.50s", "12.00MiB", "42". Private to encode/; pure.
 */
#pragma once

#include <stdint.h>

struct quantity {
	char text[32];
};

struct quantity quantity_of(uint64_t value, const char *unit);
