/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct connections - those of one server, on all its ports, and their requests: which clients are
 * let in, until when a request must be complete, and what libmicrohttpd says of requests, which are
 * then passed on to their handlers. Owned by the server. Loop thread only.
 */
#pragma once

#include "access/arrivals.h"
#include "access/crowd.h"
#include "access/handshakes.h"
#include "http/client.h"
#include "http/request.h"
#include "http/service.h"

#include <uv.h>

struct connections {
	/* Set before connections_start(); all else is zero then. */
	const struct service *service;
	struct parking parking; /* of which `resumed` is set */
	/* Lets libmicrohttpd read what has arrived by now, on all ports. */
	void (*read_now)(struct connections *connections);
	size_t room; /* for the connections of one client, whatever the settings say */

	struct arrivals arrivals;
	struct crowd connected; /* by peer_account() */
	struct handshakes handshakes;
	uv_timer_t give_up, late;
	bool has_timers;
};

/* Starts the timers. */
void connections_start(struct connections *connections);
/* Closes the loop's handles, once no connection is left. */
void connections_stop(struct connections *connections);
void connections_release(struct connections *connections);

/* A connection was accepted; `tls` is NULL for a plain one. The client is libmicrohttpd's socket
 * context until connections_end(), also where the connection is ended at once. NULL: out of
 * memory. */
struct client *connections_begin(struct connections *connections, struct MHD_Connection *connection,
                                 struct tls *tls);
/* The connection is gone; `client` is what connections_begin() returned. */
void connections_end(struct connections *connections, struct client *client);

/* Callbacks of libmicrohttpd; `ctx` is struct connections, and the request's context its struct
 * request. */
void *connections_on_uri(void *ctx, const char *uri, struct MHD_Connection *connection);
enum MHD_Result connections_on_request(void *ctx, struct MHD_Connection *connection,
                                       const char *url, const char *method, const char *version,
                                       const char *upload, size_t *upload_len, void **request_ctx);
void connections_on_completed(void *ctx, struct MHD_Connection *connection, void **request_ctx,
                              enum MHD_RequestTerminationCode why);
