/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Names of native frames as they go into a profile, made from what was found or from the lack of
 * it. No state.
 */
#pragma once

#include "object/symtab.h"
#include "profile/builder.h"

/* The function of a file's or the kernel's symbol, its name demangled. */
uint32_t native_function(struct builder *builder, const char *symbol);
/* A function of a name of our own: no linker knows it. */
uint32_t native_label(struct builder *builder, const char *name);
/* `[libfoo.so+0x1a2b]`, for an address that no symbol covers. */
uint32_t native_place(struct builder *builder, const char *path, uint64_t address);
