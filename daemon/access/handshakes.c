/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One table of a fixed size: searching it costs little compared with a handshake.
 */
#include "access/handshakes.h"

#include "base/clock.h"

#include <string.h>

static bool is_free(const struct handshake *handshake, uint64_t now_mono_ns)
{
	return !handshake->running && handshake->over_mono_ns <= now_mono_ns;
}

struct handshake *handshakes_begin(struct handshakes *handshakes, const struct in6_addr *client,
                                   uint64_t now_mono_ns)
{
	struct handshake *room = NULL;
	size_t of_client = 0;

	for (size_t i = 0; i < MAX_HANDSHAKES; i++) {
		struct handshake *handshake = &handshakes->at[i];

		if (is_free(handshake, now_mono_ns))
			room = handshake;
		else
			of_client += !memcmp(&handshake->client, client, sizeof(*client));
	}
	if (!room || of_client >= MAX_CLIENT_HANDSHAKES)
		return NULL;
	*room = (struct handshake){*client, now_mono_ns + NSEC_PER_SEC, true};
	return room;
}

void handshake_end(struct handshake *handshake)
{
	if (handshake)
		handshake->running = false;
}
