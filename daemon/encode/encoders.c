/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The table of formats, made from the list of them.
 */
#include "encode/encoder.h"

#include <string.h>

#define ENCODER(name) &encoder_##name,
const struct encoder *const encoders[] = {ENCODERS(ENCODER) NULL};
#undef ENCODER

const struct encoder *encoder_find(const char *name)
{
	for (size_t i = 0; encoders[i]; i++)
		if (!strcmp(encoders[i]->name, name))
			return encoders[i];
	return NULL;
}
