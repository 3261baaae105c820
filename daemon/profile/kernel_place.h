/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Where a GPU's kernel stands in a profile: as the leaf of the call path that launched it, in a
 * mapping of its own, the same location for the same kernel in every process. Its name is any bytes
 * of a program. No state; the builder is the caller's.
 */
#pragma once

#include "profile/builder.h"

#define KERNEL_MAPPING "[gpu kernel]"
/* What stands for a name that was not told: its handle, of type uint64_t. */
#define KERNEL_UNNAMED_PREFIX "<kernel 0x"
#define KERNEL_UNNAMED        KERNEL_UNNAMED_PREFIX "%" PRIx64 ">"

/* A kernel by its mangled name, or by what stands for one, such as "<kernel 0x...>". That is the
 * location's name; what people call it is found out when somebody asks for a profile, see
 * symbolize/mangled_names.h. */
uint32_t kernel_location(struct builder *builder, const char *name);
/* The same, for the label of a task: a string. */
uint32_t kernel_label(struct builder *builder, const char *name);
