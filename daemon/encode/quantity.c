/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "encode/quantity.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

/* Units to show values in: the largest of these that is not larger than the value. */
static const struct scale {
	const char *of;
	uint64_t size;
	const char *unit;
} scales[] = {
	{"nanoseconds", NSEC_PER_SEC, "s"},
	{"nanoseconds", NSEC_PER_MSEC, "ms"},
	{"nanoseconds", 1000, "us"},
	{"nanoseconds", 1, "ns"},
	{"bytes", 1ULL << 40, "TiB"},
	{"bytes", 1 << 30, "GiB"},
	{"bytes", 1 << 20, "MiB"},
	{"bytes", 1 << 10, "KiB"},
	{"bytes", 1, "B"},
};

struct quantity quantity_of(uint64_t value, const char *unit)
{
	const char *shown = "";
	struct quantity quantity;

	for (size_t i = 0; i < sizeof(scales) / sizeof(*scales); i++) {
		const struct scale *scale = &scales[i];

		if (strcmp(unit, scale->of) != 0 || value < scale->size)
			continue;
		shown = scale->unit;
		if (scale->size == 1)
			break;
		snprintf(quantity.text, sizeof(quantity.text), "%.2f%s",
		         (double)value / (double)scale->size, shown);
		return quantity;
	}
	snprintf(quantity.text, sizeof(quantity.text), "%llu%s", (unsigned long long)value, shown);
	return quantity;
}
