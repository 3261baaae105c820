/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct places - from an address in a process, or in the kernel, to a location of the slice being
 * built: the same for every process that maps the file. Loop thread only.
 */
#pragma once

#include "object/store.h"
#include "proc/proc.h"
#include "profile/builder.h"

struct place_mapping;

struct places {
	struct store *store;
	struct builder *builder;
	struct place_mapping *by_object; /* objects met so far, with their mapping in the slice */
};

/* The address must be in a mapping of the image. The kind is MAPPING_FILE or MAPPING_LOOP. */
uint32_t places_user(struct places *places, const struct image *image, uint64_t address,
                     enum mapping_kind kind);
uint32_t places_kernel(struct places *places, uint64_t address);
/* Something that is no code, by its bracketed name. */
uint32_t places_pseudo(struct places *places, const char *name);
void places_release(struct places *places);
