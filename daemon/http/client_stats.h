/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The counters of clients, declared once for /status and /metrics: STAT(name, type, help).
 */
#pragma once

#include <stdint.h>

#define CLIENT_STATS(STAT)                                                                       \
	STAT(requests, counter, "Requests understood as HTTP")                                   \
	STAT(under_way, gauge, "Requests not answered at once, until their answer is sent")      \
	STAT(refused_full, counter, "Requests refused because max-requests were under way")      \
	STAT(refused_connections, counter, "Connections refused: over max-client-connections")   \
	STAT(refused_handshakes, counter, "Connections refused: too many TLS handshakes")        \
	STAT(requests_late, counter, "Connections ended because a request took too long")        \
	STAT(refused_client, counter, "Requests refused because of max-client-requests")         \
	STAT(refused_user, counter, "Requests refused: their client has its share already")      \
	STAT(refused_memory, counter, "Answers refused for lack of answer-memory")               \
	STAT(refused_large, counter, "Answers refused that alone are over answer-memory")        \
	STAT(refused_group, counter, "Requests of users who are not in the group")               \
	STAT(refused_host, counter, "Requests under a name that is not this host's")             \
	STAT(refused_private, counter, "Requests for what that client may not have")             \
	STAT(pss_missed, counter, "Answers without PSS, which took too long to read")            \
	STAT(answers_shared, counter, "Profiles that were made once for several equal requests") \
	STAT(answer_bytes, gauge, "Memory of answers that are being sent")                       \
	STAT(answers_given_up, counter, "Answers given up because their client read too slowly")

struct client_stats {
#define STAT(name, type, help) uint64_t name;
	CLIENT_STATS(STAT)
#undef STAT
};
