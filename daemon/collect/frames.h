/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct frames - from the words of a user stack (bpf/python.h) to a call path of the slice being
 * built: native frames, Python frames, and the frame that stands for those which are missing. Loop
 * thread only.
 */
#pragma once

#include "collect/drain.h"
#include "collect/places.h"

struct frames {
	struct builder *builder;
	struct places places;
	struct python_codes *codes; /* NULL: nothing is known of Python */
	uint64_t *codes_told;       /* NULL: nobody can be asked again */
	struct drain_losses *losses;
	uint32_t
		python_version; /* what the Python frames of the latest stack say; 0: it had none */
};

/* For call paths of `builder`; what goes wrong is added to `losses`. places_release() of its places
 * when it is done. */
static inline struct frames frames_of(const struct drain_tables *tables, struct builder *builder,
                                      struct drain_losses *losses)
{
	return (struct frames){
		.builder = builder,
		.places = {.store = tables->store, .builder = builder},
		.codes = tables->codes,
		.codes_told = tables->codes_told,
		.losses = losses,
	};
}

/* One user stack, leaf first. */
struct stack_words {
	const uint64_t *words;
	size_t len;
	bool whole; /* false: a part was not in the drained map */
};

/* Whether all its native frames are in mappings of the image. */
bool frames_are_mapped(const struct image *image, const struct stack_words *stack);
/* The path of a stack; `image` is NULL where the process could not be identified: then native
 * frames are not known. 0 for an empty stack. */
uint32_t frames_add(struct frames *frames, const struct image *image,
                    const struct stack_words *stack);
