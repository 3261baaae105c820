/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The place of a GPU kernel in a profile: it is the leaf of the call path that launched it, in a
 * mapping for GPU kernels, and has the same location in every process. Its name comes from the
 * program and may hold any bytes. No state; the builder is the caller's.
 */
#pragma once

#include "profile/builder.h"

#define KERNEL_MAPPING "[gpu kernel]"
/* Stands for a name that is not known: the kernel's handle, of type uint64_t. */
#define KERNEL_UNNAMED_PREFIX "<kernel 0x"
#define KERNEL_UNNAMED        KERNEL_UNNAMED_PREFIX "%" PRIx64 ">"

/* The location of a kernel with this mangled name, or with what stands for a name, such as "<kernel
 * 0x...>". The location has this name. It is demangled when a profile is asked for, see
 * symbolize/mangled_names.h. */
uint32_t kernel_location(struct builder *builder, const char *name);
/* The same for the label of a task, which is a string. */
uint32_t kernel_label(struct builder *builder, const char *name);
