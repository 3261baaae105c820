/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Mangled names that come from elsewhere than a file: those of GPUs' kernels, which are any bytes
 * of a program, and the kernel's own symbols. No state.
 */
#pragma once

#include "names/client.h"
#include "profile/builder.h"

/* After the locations have names: those that are mangled become system_name, and what people call
 * them the name; likewise the label of tasks that says which kernel. What the reader process fails
 * over stays as it is. 0 or -ENOMEM. */
int mangled_names_read(struct names_client *client, struct builder *builder);
