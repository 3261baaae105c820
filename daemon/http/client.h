/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct client - one connection, from its first byte to its last: who has its other end, and what
 * its wire is protected by. It is libmicrohttpd's socket context, and the same for all requests of
 * the connection. Loop thread only.
 */
#pragma once

#include "access/tls.h"
#include "http/arrivals.h"
#include "http/handshakes.h"
#include "http/peer.h"

#include <microhttpd.h>

struct request;

struct client {
	struct peer peer;
	struct tls *tls; /* that the handshake was made by; NULL: there was none, or it will fail */
	struct request *request;     /* that has begun and not ended; NULL: none */
	struct arrival arrival;      /* of its next request */
	struct in6_addr account;     /* whose share of connections and requests it takes */
	bool root;                   /* of this host, who may have all */
	bool counted;                /* it takes a share of connections */
	struct handshake *handshake; /* until its first request; NULL: none is counted */
};

/* Of a connection that has just been accepted; `tls` is NULL where it is a plain one. NULL when out
 * of memory. */
struct client *client_new(struct MHD_Connection *connection, struct tls *tls);
void client_free(struct client *client);
/* Whether it is a process of this host, root's aside. */
bool client_is_user(const struct client *client);
/* On whose behalf its requests wait in a lane: one number for one user of this host, or one
 * address; 0 of root. */
uint64_t client_account(const struct client *client);
