/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The figures that profd counts and measures about itself, one at a time, from the lists that
 * declare them: for /status, which groups them in parts, and for /metrics. Loop thread only.
 */
#pragma once

#include "base/figure.h"
#include "http/request.h"

/* Calls fn for each figure; the figures of one part come one after the other. */
void figures_each(const struct request *request, figure_fn *fn, void *ctx);
