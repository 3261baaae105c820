/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A poll handle on the connection's socket, separate from libmicrohttpd's.
 */
#include "http/hangup.h"

#include <stdlib.h>

struct hangup {
	uv_poll_t poll;
	void (*gone)(void *ctx);
	void *ctx;
};

static void on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

static void on_disconnect(uv_poll_t *poll, int status, int events)
{
	struct hangup *hangup = poll->data;

	/* A negative status is an error of the socket, which ends it as well. */
	(void)status, (void)events;
	uv_poll_stop(poll);
	hangup->gone(hangup->ctx);
}

struct hangup *hangup_watch(uv_loop_t *loop, int fd, void (*gone)(void *ctx), void *ctx)
{
	struct hangup *hangup = calloc(1, sizeof(*hangup));

	if (!hangup)
		return NULL;
	if (uv_poll_init(loop, &hangup->poll, fd)) {
		free(hangup);
		return NULL;
	}
	hangup->gone = gone;
	hangup->ctx = ctx;
	hangup->poll.data = hangup;
	uv_poll_start(&hangup->poll, UV_DISCONNECT, on_disconnect);
	return hangup;
}

void hangup_stop(struct hangup *hangup)
{
	if (hangup)
		uv_close((uv_handle_t *)&hangup->poll, on_closed);
}
