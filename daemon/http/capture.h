/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct capture - an in-flight /profile request: it checks that the named processes exist, waits
 * for the boundaries of its time range, takes the slices in between, has them rendered and answers.
 * HEAD is answered after the check. A capture owns itself and frees itself when it is done; when
 * its request is abandoned it ends as soon as it can. Loop thread only.
 */
#pragma once

#include "http/profile_query.h"
#include "http/request.h"

/* Suspends the request and takes ownership of its query, into which `ask` points. -EAGAIN, -EUSERS,
 * -EDQUOT, -ENOMEM: the request is not suspended, and the caller must still answer it. */
int capture_start(struct request *request, const struct profile_query *ask);
