/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Names of native frames for profiles, made from what was found, or placeholders if nothing was
 * found. No state.
 */
#pragma once

#include "names/source_frame.h"
#include "object/object.h"
#include "profile/builder.h"

/* The function of a frame in the file with this path: `libfoo.so!sub_1a2b` when only the function's
 * bounds are known, and NOTHING_KNOWN when not even these are. */
uint32_t native_frame(struct builder *builder, const char *path, const struct source_frame *frame);
#define NOTHING_KNOWN ((struct function){0})
/* A function that has only a name: one of the kernel, or a placeholder. */
uint32_t native_label(struct builder *builder, const char *name);
/* `[libfoo.so+0x1a2b]`, for an address that no symbol covers. */
uint32_t native_place(struct builder *builder, const char *path, uint64_t address);
/* The line number that an answer keeps for a frame at an own address of the file. A variable has
 * none; there it is how far behind the variable's beginning the address is. */
uint32_t native_line(const struct object *object, uint64_t address,
                     const struct source_frame *frame);
/* `[lock NAME+0x10]`, for memory `offset` bytes behind the beginning of a variable; `[lock
 * libfoo.so+0x1a2b]` where `name` is NULL, and for an address of a process `[lock 0x7ffe1a2b]`,
 * where `path` is NULL as well. */
uint32_t native_lock(struct builder *builder, const char *path, const char *name, uint64_t offset);
