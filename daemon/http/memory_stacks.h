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

/* `slices` are of growth of resident memory. 0, -ENOMEM, or -EFBIG when their text would surely
 * take more than `max_bytes`, found out before that much is made of it; 0: any number. */
int memory_stacks_json(struct symbolizer *symbolizer, struct profile *const *slices,
                       size_t slice_count, const struct selection *selection, size_t max_bytes,
                       json_t **ret_stacks);
/* The same of a profile that has names. */
int memory_stacks_of(const struct profile *profile, size_t max_bytes, json_t **ret_stacks);
