/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From CUPTI's records to the probe profd_cuda:ran(correlation, nanoseconds, device, name, weight,
 * kernels), on the thread on which CUPTI returns a buffer. A hit says that `kernels` kernels of
 * that name, which resulted from a chosen launch, ran for `nanoseconds` altogether, and that the
 * launch stands for `weight` launches of its kind.
 */
#pragma once

#include "cuda_helper/cupti_api.h"

#include <stdbool.h>

/* Called before anything else. The functions must be there as long as it is used. */
void kernels_init(const struct cupti *with);
/* Sets the subscriber whose records these are, where CUPTI distinguishes subscribers. */
void kernels_subscriber(void *subscriber);
/* While false, CUPTI gets no buffers. */
void kernels_record(bool on);

/* Callbacks for CUPTI. */
cupti_request_fn kernels_request;
cupti_complete_fn kernels_complete;
cupti_request_v2_fn kernels_request_v2;
cupti_complete_v2_fn kernels_complete_v2;
