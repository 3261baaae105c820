/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From CUPTI's callbacks to the probe profd_cuda:launched(correlation), on the thread that
 * launches, and to what is remembered of the launch.
 */
#pragma once

#include "cuda_helper/correlations.h"
#include "cuda_helper/cupti_api.h"

#include <stdbool.h>

enum { KERNELS_A_SECOND = 100, GRAPHS_A_SECOND = 20 }; /* reported for each thread */

/* The launches that were chosen. */
extern struct correlations launches_chosen;

/* Called once; false: there is no room for the per-thread state. */
bool launches_init(void);
/* While off, a call does nothing. Each time that recording begins, all state is new. Not by two
 * threads at once. */
void launches_record(bool on);
/* Callback for CUPTI. */
cupti_called_fn launches_called;
