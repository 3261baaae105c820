/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct policy - what the operator lets clients have, and how much of it. policies.c keeps it; it
 * changes on the loop thread when the settings are read again, so it is looked at anew for each
 * request.
 */
#pragma once

#include "http/members.h"

struct policy {
	const char *group;             /* NULL: every user of this host is answered */
	const struct members *members; /* of that group; NULL: none */
	const char *allow_hosts;       /* names separated by blanks, or NULL */
	bool on_demand;                /* probes may be put into processes */
	uint64_t max_seconds;
	size_t max_requests, max_client_requests, max_client_connections;
	size_t answer_bytes;
};
