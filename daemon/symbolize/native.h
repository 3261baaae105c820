/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Names of native frames as they go into a profile, made from what was found or from the lack of
 * it. No state.
 */
#pragma once

#include "names/source_frame.h"
#include "profile/builder.h"

/* The function of a frame in the file of this path: `libfoo.so!sub_1a2b` where nothing but its
 * bounds is known, and NOTHING_KNOWN where not even that is. */
uint32_t native_frame(struct builder *builder, const char *path, const struct source_frame *frame);
#define NOTHING_KNOWN ((struct function){0})
/* A function of which there is no more than a name: the kernel's, and those of our own. */
uint32_t native_label(struct builder *builder, const char *name);
/* `[libfoo.so+0x1a2b]`, for an address that no symbol covers. */
uint32_t native_place(struct builder *builder, const char *path, uint64_t address);
