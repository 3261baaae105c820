/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct heap_capture - an in-flight /heap request: it has a process watched, or takes what the
 * process reported about its own allocations, has that rendered and answers. It owns itself and
 * frees itself when it is done; when its request is abandoned the watch ends. Loop thread only.
 */
#pragma once

#include "api/heap_query.h"
#include "http/request.h"

/* Suspends the request. -EAGAIN, -EUSERS, -EDQUOT, -ENOMEM: the request is not suspended, and the
 * caller must still answer it. */
int heap_capture_start(struct request *request, const struct heap_query *query);
