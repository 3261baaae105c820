/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Names of GPU kernels that were not reported when the kernels were launched: the host function
 * that nvcc generates to launch a kernel is named after the kernel, and is among the callers.
 */
#pragma once

#include "profile/builder.h"

#include <stdbool.h>
#include <stddef.h>

/* To be called after the locations have names. Gives launches that end in "<kernel 0x...>" the name
 * that a caller has for the kernel, also as their label; mangled, see mangled_names.h. 0 or
 * -ENOMEM. */
int kernels_name(struct builder *builder);
/* Finds the name of the kernel that a function launches, from the function's readable name; mangled
 * where that form is available. False: the function launches no kernel, or the name does not fit.
 */
bool kernels_of_stub(const char *function, char *ret_name, size_t size);
