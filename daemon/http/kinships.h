/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Who started whom, of the processes that live or ended while what is kept was recorded: what a
 * filter on descendants needs besides the slices. Loop thread only.
 */
#pragma once

#include "proc/proc.h"
#include "profile/descent.h"

/* To be freed. 0 or -ENOMEM. */
int kinships_read(const struct procs *procs, struct kinship **ret_known, size_t *ret_count);
