/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct frames - turns the words of a user stack (bpf/words.h) into a call path of the slice that
 * is being built: native frames, interpreted frames, and a frame that stands for missing ones. Loop
 * thread only.
 */
#pragma once

#include "ingest/drain.h"
#include "ingest/places.h"

struct frames {
	struct builder *builder;
	struct places places;
	struct runtimes *runtimes;
	struct drain_losses *losses;
	uint32_t root;              /* the path that stacks are put on; 0: none */
	struct runtime_version ran; /* of the interpreted frames in the latest stack */
};

/* Makes call paths for `builder`, and adds what goes wrong to `losses`. Call places_release() for
 * its `places` at the end. */
static inline struct frames frames_of(const struct drain_tables *tables, struct builder *builder,
                                      struct drain_losses *losses)
{
	return (struct frames){
		.builder = builder,
		.places = {.store = tables->store,
	                   .builder = builder,
	                   .generated = {.builder = builder, .jit = tables->jit}},
		.runtimes = tables->runtimes,
		.losses = losses,
	};
}

/* One user stack, leaf first. */
struct stack_words {
	const uint64_t *words;
	size_t len;
	bool whole; /* false: a part was not in the drained map */
};

/* Whether all native frames of a stack are in mappings of the image. */
bool frames_are_mapped(const struct image *image, const struct stack_words *stack);
/* Adds the call path of a stack to `root`; `root` for an empty stack. `image` is NULL if the
 * process could not be identified; then native frames are left out. */
uint32_t frames_add(struct frames *frames, const struct image *image,
                    const struct stack_words *stack);
