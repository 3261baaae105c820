/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The place of a frame of interpreted code in a profile. Pure. Ids are 0 when out of memory.
 */
#pragma once

#include "profile/builder.h"
#include "runtimes/runtimes.h"

/* What stands for the code of a runtime, as a binary does for native code. */
uint32_t interpreted_mapping(struct builder *builder, const struct runtime_version *version);
uint32_t interpreted_location(struct builder *builder, uint32_t mapping,
                              const struct runtime_frame *frame);
/* The location of code which is not known any more, of the runtime with that name. */
uint32_t interpreted_unknown(struct builder *builder, const char *runtime);
