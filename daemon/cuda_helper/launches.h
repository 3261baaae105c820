/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From CUPTI's callbacks to the probe profd_cuda:launched(correlation), on the thread that
 * launches, and to what is remembered of it.
 */
#pragma once

#include "cuda_helper/correlations.h"
#include "cuda_helper/cupti_api.h"

#include <stdbool.h>

enum { KERNELS_A_SECOND = 100, GRAPHS_A_SECOND = 20 }; /* of a thread, that are told of */

/* Those that were chosen. */
extern struct correlations launches_chosen;

/* Once; false: there is no room for what threads keep. */
bool launches_init(void);
/* While false, nothing is done in a call. Each time it begins, all is as if it were the first. Not
 * by two threads at once. */
void launches_record(bool on);
/* For CUPTI. */
cupti_called_fn launches_called;
