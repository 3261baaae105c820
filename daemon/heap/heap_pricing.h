/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a hit costs on this host. It is measured by probing functions of profd itself with the
 * programs that heap profiles run, and calling them. That takes some 20 ms, on a lane.
 */
#pragma once

#include "allocators/price.h"
#include "kernel/heap_kernel.h"

#include <stdbool.h>

/* A cost that could not be measured is taken from HEAP_PRICE_DEFAULT. `*ret_sessions` says whether
 * this kernel has uprobe sessions. -EOPNOTSUPP or another error: it has no usable uprobes. */
int heap_pricing_measure(const struct heap_kernel *kernel, struct heap_price *ret_price,
                         bool *ret_sessions);
