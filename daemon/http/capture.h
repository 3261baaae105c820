/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct capture - a /profile request under way: it finds out whether there are such processes,
 * waits for the boundaries of its time range, takes the slices in between, has them rendered and
 * answers; HEAD as soon as the first is known. It owns itself and is gone when it is
 * done; when its request is abandoned it ends as soon as it can. Loop thread only.
 */
#pragma once

#include "http/profile_query.h"
#include "http/request.h"

/* Parks the request and takes over its query, into which `ask` points. -EAGAIN, -ENOMEM: the
 * request is not parked and still the caller's to answer. */
int capture_start(struct request *request, const struct profile_query *ask);
