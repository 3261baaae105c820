/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct hangup - detects that the client of a suspended request has gone, so that a capture does
 * not hold its place without a reader. A client that only shuts down its sending side counts as
 * gone, as with most HTTP servers. Loop thread only.
 */
#pragma once

#include <uv.h>

struct hangup;

/* Calls gone() at most once. NULL when the connection cannot be watched: its end is then detected
 * when the answer is sent. */
struct hangup *hangup_watch(uv_loop_t *loop, int fd, void (*gone)(void *ctx), void *ctx);
void hangup_stop(struct hangup *hangup); /* takes NULL; frees */
