/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Kernels of GPUs whose names nobody told when they were launched: what nvcc makes for the host to
 * launch one is named after it, and is among the callers.
 */
#pragma once

#include "profile/builder.h"

#include <stdbool.h>
#include <stddef.h>

/* After the locations have names: puts launches that end in "<kernel 0x...>" under the name that a
 * caller gives them, their label likewise: mangled, see mangled_names.h. 0 or -ENOMEM. */
int kernels_name(struct builder *builder);
/* The kernel, mangled if it can be, that a function is there to launch, by the function's name for
 * people; false: it is not for that, or the name does not fit. */
bool kernels_of_stub(const char *function, char *ret_name, size_t size);
