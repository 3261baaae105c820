/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct filter - decides which tasks' samples a selection keeps. Private to this folder.
 */
#pragma once

#include "profile/descent.h"
#include "profile/selection.h"

struct filter {
	const struct selection *selection;
	struct descent descent; /* if children were asked for */
};

/* `selection` must outlive it. 0 or -ENOMEM. */
int filter_init(struct filter *filter, const struct selection *selection,
                struct profile *const *slices, size_t slice_count);
void filter_release(struct filter *filter);
bool filter_takes(const struct filter *filter, const struct profile *profile,
                  const struct task *task);
