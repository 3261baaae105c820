/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The lanes as metrics.
 */
#pragma once

#include "base/buf.h"

void metrics_add_lanes(struct buf *body);
