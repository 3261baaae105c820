/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct heap_capture - a /heap request under way: it has a process watched, or takes what the
 * process told of its own accord, has that rendered and answers. It owns itself and is gone when it
 * is done; when its request is abandoned nothing is watched any longer. Loop thread only.
 */
#pragma once

#include "http/heap_query.h"
#include "http/request.h"

/* Parks the request. -EAGAIN, -ENOMEM: it is not parked and still the caller's to answer. */
int heap_capture_start(struct request *request, const struct heap_query *query);
