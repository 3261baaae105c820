/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The stacks that made a process's memory grow most, by name. On the render lane, where the
 * symbolizer lives.
 */
#pragma once

#include "profile/select.h"
#include "symbolize/symbolize.h"

#include <jansson.h>

enum { MEMORY_STACKS = 10 };

/* `slices` are of growth of resident memory. 0 or -ENOMEM. */
int memory_stacks_json(struct symbolizer *symbolizer, struct profile *const *slices,
                       size_t slice_count, const struct selection *selection, json_t **ret_stacks);
