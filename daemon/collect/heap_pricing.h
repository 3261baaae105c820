/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a hit costs on this host, found out by probing functions of our own with the programs that
 * heap profiles run, and calling them. It takes some 20 ms, on a lane.
 */
#pragma once

#include "collect/heap_kernel.h"
#include "heap/price.h"

#include <stdbool.h>

/* What could not be measured is as in HEAP_PRICE_DEFAULT; `*ret_sessions` says whether this kernel
 * has uprobe sessions. -EOPNOTSUPP or another error: it has no uprobes that can be used. */
int heap_pricing_measure(const struct heap_kernel *kernel, struct heap_price *ret_price,
                         bool *ret_sessions);
