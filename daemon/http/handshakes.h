/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct handshakes - the TLS handshakes under way, and those that began within the last second. A
 * handshake takes a millisecond of the loop thread, more with a long key, before anybody has shown
 * who he is: so a client may begin so many a second, and have so many unfinished; and so may all
 * clients together, which is what bounds one turn of the loop. Pure but for the caller's clock;
 * loop thread only.
 */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	MAX_HANDSHAKES = 128,       /* of all: an eighth of a second with an RSA key of 2048 bits */
	MAX_CLIENT_HANDSHAKES = 32, /* a browser has six connections, a script one after another */
};

struct handshake {
	struct in6_addr client;
	uint64_t over_mono_ns; /* the second since its begin; 0: this place is free */
	bool running;
};

/* All zero at first. */
struct handshakes {
	struct handshake at[MAX_HANDSHAKES];
};

/* NULL: as many as may be. */
struct handshake *handshakes_begin(struct handshakes *handshakes, const struct in6_addr *client,
                                   uint64_t now_mono_ns);
/* It is done, or its connection is gone. Takes NULL. */
void handshake_end(struct handshake *handshake);
