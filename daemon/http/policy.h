/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct policy - what the operator allows clients, and how much of it. policies.c keeps it. It
 * changes on the loop thread when the settings are read again, so it is consulted anew for each
 * request.
 */
#pragma once

#include "access/members.h"

struct policy {
	const char *group;             /* NULL: every user of this host is served */
	const struct members *members; /* of that group; NULL: none */
	const char *allow_hosts;       /* names separated by blanks, or NULL */
	bool on_demand;                /* probes may be put into processes */
	uint64_t max_seconds;
	size_t max_requests, max_client_requests, max_client_connections;
	size_t answer_bytes;
};
