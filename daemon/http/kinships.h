/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Parents of the processes that run, or that ended while the kept history was recorded: what a
 * filter on descendants needs besides the slices. Loop thread only.
 */
#pragma once

#include "proc/proc.h"
#include "profile/descent.h"

/* The caller frees `*ret_known`. 0 or -ENOMEM. */
int kinships_read(const struct procs *procs, struct kinship **ret_known, size_t *ret_count);
