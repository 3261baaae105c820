/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Who started whom, of the processes that live now: what a filter on descendants needs besides the
 * slices. Loop thread only.
 */
#pragma once

#include "proc/proc.h"
#include "profile/descent.h"

/* To be freed. 0 or -ENOMEM. */
int kinships_read(struct procs *procs, struct kinship **ret_known, size_t *ret_count);
