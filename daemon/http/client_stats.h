/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The counters of clients, declared once for /status and /metrics: STAT(name, type, help).
 */
#pragma once

#include <stdint.h>

#define CLIENT_STATS(STAT)                                                                      \
	STAT(requests, counter, "HTTP requests received")                                       \
	STAT(under_way, gauge, "In-flight requests, without those that are answered at once")   \
	STAT(refused_full, counter, "Requests refused because max-requests was reached")        \
	STAT(refused_connections, counter,                                                      \
	     "Connections refused because of max-client-connections")                           \
	STAT(refused_handshakes, counter,                                                       \
	     "Connections refused because of too many unfinished TLS handshakes")               \
	STAT(requests_late, counter,                                                            \
	     "Connections closed because a request took too long to arrive")                    \
	STAT(refused_client, counter, "Requests refused because of max-client-requests")        \
	STAT(refused_user, counter, "Requests refused because their client's share was full")   \
	STAT(refused_memory, counter,                                                           \
	     "Answers refused because answer-memory, or a user's share of it, was full")        \
	STAT(refused_large, counter, "Answers refused because they alone exceed answer-memory") \
	STAT(refused_group, counter, "Requests refused because their user is not in the group") \
	STAT(refused_host, counter,                                                             \
	     "Requests refused because their Host header names another host")                   \
	STAT(refused_private, counter,                                                          \
	     "Requests refused because their client is not permitted to make them")             \
	STAT(pss_missed, counter, "Answers without PSS because it could not be read in time")   \
	STAT(answers_shared, counter,                                                           \
	     "Requests answered with the profile made for an equal request")                    \
	STAT(answer_bytes, gauge, "Memory of answers being sent")                               \
	STAT(answers_given_up, counter, "Answers given up because their client read too slowly")

struct client_stats {
#define STAT(name, type, help) uint64_t name;
	CLIENT_STATS(STAT)
#undef STAT
};
