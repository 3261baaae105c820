/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Mangled names that do not come from files: those of GPU kernels, which may be any bytes that a
 * program supplies, and the kernel's own symbols. No state.
 */
#pragma once

#include "names/client.h"
#include "profile/builder.h"

/* To be called after the locations have names. A mangled name becomes system_name, and its readable
 * form the name; the same for the label of tasks that names a GPU kernel. A name on which the
 * reader process fails stays as it is. 0 or -ENOMEM. */
int mangled_names_read(struct names_client *client, struct builder *builder);
