/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The time that requests take on the loop thread itself, before the rest of the work is another
 * thread's. A client that asks for such work again and again has a share of each second, so that it
 * cannot stop the loop. Root has no limit. Loop thread only.
 */
#pragma once

#include "http/request.h"

/* 0, or -EBUSY: the client has had its share of this second. `ret_begun_ns` is for the other
 * function. */
int loop_time_begin(struct request *request, uint64_t *ret_begun_ns);
void loop_time_end(struct request *request, uint64_t begun_ns);
