/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct places - turns an address in a process or in the kernel into a location of the slice that
 * is being built. The location is the same for every process that maps the file. Loop thread only.
 */
#pragma once

#include "ingest/generated.h"
#include "object/store.h"
#include "proc/proc.h"
#include "profile/builder.h"

struct place_mapping;

struct places {
	struct store *store;
	struct builder *builder;
	struct place_mapping *by_object; /* objects met so far, with their mapping in the slice */
	struct generated generated;
	bool met_closed; /* set when the object of an address was closed for lack of room */
};

/* The location of an address in a mapping of the image. `kind` is MAPPING_FILE or MAPPING_LOOP.
 * 0: it is generated code that is left out. */
uint32_t places_user(struct places *places, const struct image *image, uint64_t address,
                     enum mapping_kind kind);
/* The location of what is at the address, for which threads wait: of a variable, if a file of the
 * image has the address. */
uint32_t places_lock(struct places *places, const struct image *image, uint64_t address);
uint32_t places_gil(struct places *places);
uint32_t places_kernel(struct places *places, uint64_t address);
/* The location of something that is not code, by its name in brackets. */
uint32_t places_pseudo(struct places *places, const char *name);
void places_release(struct places *places);
