/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct client - one connection, from its first byte to its last: the peer at its other end, and
 * the TLS state that protects it. It is libmicrohttpd's socket context, and the same for all
 * requests of the connection. Loop thread only.
 */
#pragma once

#include "access/arrivals.h"
#include "access/handshakes.h"
#include "access/peer.h"
#include "access/tls.h"

#include <microhttpd.h>

struct request;

struct client {
	struct peer peer;
	struct tls *tls; /* of the handshake; NULL: plain connection, or the handshake will fail */
	struct request *request;     /* that has begun and not ended; NULL: none */
	struct arrival arrival;      /* of the next request */
	struct in6_addr account;     /* charged for its connections and requests */
	bool root;                   /* root of this host, which has no share */
	bool counted;                /* the connection is charged to the account */
	struct handshake *handshake; /* until the first request; NULL: none is counted */
};

/* For a connection that has just been accepted; `tls` is NULL for a plain connection. Returns NULL
 * when out of memory. */
struct client *client_new(struct MHD_Connection *connection, struct tls *tls);
void client_free(struct client *client);
/* Whether the client is a process of this host that is not root's. */
bool client_is_user(const struct client *client);
/* The account for which the client's requests queue in a lane: one number for each user of this
 * host and for each address; 0 for root. */
uint64_t client_account(const struct client *client);
