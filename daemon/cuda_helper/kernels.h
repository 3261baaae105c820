/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From CUPTI's records to the probe
 * profd_cuda:ran(correlation, nanoseconds, device, name, weight, kernels), on whichever thread
 * CUPTI gives a buffer back on: so many kernels of that name that a chosen launch led to ran so
 * long altogether, and the launch stands for `weight` of its kind.
 */
#pragma once

#include "cuda_helper/cupti_api.h"

#include <stdbool.h>

/* Before anything else. `cupti` outlives all of it. */
void kernels_init(const struct cupti *cupti);
/* Of whom the records are, where CUPTI tells subscribers apart. */
void kernels_subscriber(void *subscriber);
/* While false, CUPTI gets no buffers. */
void kernels_record(bool on);

/* For CUPTI. */
cupti_request_fn kernels_request;
cupti_complete_fn kernels_complete;
cupti_request_v2_fn kernels_request_v2;
cupti_complete_v2_fn kernels_complete_v2;
