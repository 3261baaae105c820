/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct handshakes - the TLS handshakes in progress, and those that began within the last second.
 * A handshake takes a millisecond of the loop thread, more with a long key, before the client has
 * authenticated. So the number that may begin each second and the number of unfinished ones are
 * limited, for each client and for all together; the latter bounds one turn of the loop. Pure,
 * apart from the caller's clock; loop thread only.
 */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	MAX_HANDSHAKES = 128, /* of all clients: an eighth of a second with 2048-bit RSA keys */
	MAX_CLIENT_HANDSHAKES = 32, /* a browser opens six connections, a script one at a time */
};

struct handshake {
	struct in6_addr client;
	uint64_t over_mono_ns; /* one second after its start; 0: the entry is free */
	bool running;
};

/* All zero at first. */
struct handshakes {
	struct handshake at[MAX_HANDSHAKES];
};

/* NULL: a limit is reached. */
struct handshake *handshakes_begin(struct handshakes *handshakes, const struct in6_addr *client,
                                   uint64_t now_mono_ns);
/* The handshake is done, or its connection is gone. Takes NULL. */
void handshake_end(struct handshake *handshake);
