/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The stacks that made a process's memory grow most, with names. On the render lane, to which the
 * symbolizer belongs.
 */
#pragma once

#include "profile/select.h"
#include "symbolize/symbolize.h"

#include <jansson.h>

enum { MEMORY_STACKS = 10 };

/* `slices` hold growth of resident memory. 0, -ENOMEM, or -EFBIG when the text would certainly
 * exceed `max_bytes`, which is detected before that much is built; `max_bytes` 0: no bound. */
int memory_stacks_json(struct symbolizer *symbolizer, struct profile *const *slices,
                       size_t slice_count, const struct selection *selection, size_t max_bytes,
                       json_t **ret_stacks);
/* The same for a profile that is already symbolized. */
int memory_stacks_of(const struct profile *profile, size_t max_bytes, json_t **ret_stacks);
