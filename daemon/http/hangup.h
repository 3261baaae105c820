/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct hangup - notices that the client of a parked connection has gone, so that a capture nobody
 * waits for does not hold its place. A client that only shuts down its sending side counts as gone,
 * as it does for most HTTP servers. Loop thread only.
 */
#pragma once

#include <uv.h>

struct hangup;

/* Calls gone() at most once. NULL when it cannot be watched: then the end of the connection is
 * noticed when the answer is sent. */
struct hangup *hangup_watch(uv_loop_t *loop, int fd, void (*gone)(void *ctx), void *ctx);
void hangup_stop(struct hangup *hangup); /* takes NULL; frees */
