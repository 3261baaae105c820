/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Admission by the user at the other end of the connection and by the request's headers.
 */
#include "http/admission.h"

#include "access/host_name.h"
#include "base/accounts.h"
#include "proc/owner.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

static bool is_trusted(const struct request *request)
{
	return request->authenticated || request->client->peer.kind != PEER_ELSEWHERE;
}

static int refuse_user(struct request *request, struct refusal *ret_refusal, uint32_t uid, int err)
{
	request->parking->stats.refused_group++;
	if (err)
		return refuse(ret_refusal, MHD_HTTP_FORBIDDEN,
		              "cannot determine the user of this client (%s): the setting group "
		              "admits only root and members of group %s",
		              strerror(-err), request->service->policy->group);
	return refuse(
		ret_refusal, MHD_HTTP_FORBIDDEN,
		"user %" PRIu32
		" is not admitted: the setting group admits only root and members of group %s",
		uid, request->service->policy->group);
}

/* A client that connects over TCP from a non-loopback address may still be a user of this host. */
static int admit_user(struct request *request, struct refusal *ret_refusal)
{
	const struct policy *policy = request->service->policy;
	uint32_t uid = 0;
	int err;

	if (!policy->group)
		return 0;
	err = peer_user(&request->client->peer, &uid);
	if (err == -ENOENT && request->client->peer.kind == PEER_ELSEWHERE)
		return 0;
	if (!err && (!uid || (policy->members && members_have(policy->members, uid))))
		return 0;
	return refuse_user(request, ret_refusal, uid, err);
}

/* Counts of the headers that a request may have only once. */
struct singles {
	size_t hosts, lengths;
};

static enum MHD_Result count_singles(void *ctx, enum MHD_ValueKind kind, const char *name,
                                     const char *value)
{
	struct singles *singles = ctx;

	(void)kind, (void)value;
	singles->hosts += !strcasecmp(name, MHD_HTTP_HEADER_HOST);
	singles->lengths += !strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) ||
	                    !strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING);
	return MHD_YES;
}

/* If a request states its length twice, a proxy may have believed the other statement. */
static int check_singles(struct request *request, struct refusal *ret_refusal)
{
	struct singles singles = {0};

	MHD_get_connection_values(request->connection, MHD_HEADER_KIND, count_singles, &singles);
	request->close = singles.lengths > 1;
	if (request->close)
		return refuse(
			ret_refusal, MHD_HTTP_BAD_REQUEST,
			"the request has more than one Content-Length or Transfer-Encoding header");
	if (singles.hosts > 1)
		return refuse(ret_refusal, MHD_HTTP_BAD_REQUEST,
		              "the request has more than one Host header");
	return 0;
}

static int admit_host(struct request *request, struct refusal *ret_refusal)
{
	const struct service *service = request->service;
	const char *host = request_host(request);

	if (request->client->peer.kind == PEER_UNIX)
		return 0;
	if (!host && !request->needs_host)
		return 0;
	if (!host || !host[0])
		return refuse(ret_refusal, MHD_HTTP_BAD_REQUEST,
		              "the request has no Host header, which HTTP/1.1 requires");
	if (host_is_ours(host, service->host, service->policy->allow_hosts))
		return 0;
	request->parking->stats.refused_host++;
	return refuse(ret_refusal, MHD_HTTP_MISDIRECTED_REQUEST,
	              "%.100s is not a known name of this host; use an address, localhost, %.64s "
	              "or a name in the setting allow-host",
	              host, service->host->nodename);
}

int admit_request(struct request *request, struct refusal *ret_refusal)
{
	int err = check_singles(request, ret_refusal);

	if (err || request->authenticated)
		return err;
	err = admit_user(request, ret_refusal);
	return err ? err : admit_host(request, ret_refusal);
}

int admit_private(struct request *request, const char *what, struct refusal *ret_refusal)
{
	if (is_trusted(request))
		return 0;
	request->parking->stats.refused_private++;
	return refuse(ret_refusal, MHD_HTTP_FORBIDDEN,
	              "%s only for clients on this host and clients with credentials", what);
}

int admit_attaching(struct request *request, struct refusal *ret_refusal)
{
	if (request->service->policy->on_demand)
		return admit_private(request, "profd attaches probes to a process", ret_refusal);
	request->parking->stats.refused_private++;
	return refuse(
		ret_refusal, MHD_HTTP_FORBIDDEN,
		"profd attaches no probes, because the setting on-demand is no; for a process that "
		"samples its own allocations, omit seconds=, rate=, budget= and force=");
}

int admit_attaching_to(struct request *request, uint32_t pid, uint32_t *ret_owner,
                       struct refusal *ret_refusal)
{
	uint32_t uid = 0;
	int err = request->authenticated || request->service->policy->group
	                  ? 0
	                  : peer_user(&request->client->peer, &uid);

	if (!err && uid && !account_is_trusted(account_of(uid))) {
		request->parking->stats.refused_private++;
		return refuse(ret_refusal, MHD_HTTP_FORBIDDEN,
		              "profd attaches no probes for user %" PRIu32
		              ": see the setting user-probes",
		              uid);
	}
	if (!err && (!uid || uid == owner_read_sole(pid))) {
		*ret_owner = uid ? uid : OWNER_UNKNOWN;
		return 0;
	}
	request->parking->stats.refused_private++;
	if (err)
		return refuse(
			ret_refusal, MHD_HTTP_FORBIDDEN,
			"cannot determine the user of this client (%s): without the setting group, "
			"profd attaches probes to a process only for root and its owner",
			strerror(-err));
	return refuse(ret_refusal, MHD_HTTP_FORBIDDEN,
	              "process %" PRIu32 " does not belong to user %" PRIu32
	              " alone: without the setting group, profd attaches probes to a process only "
	              "for root and its owner",
	              pid, uid);
}

uint32_t admit_viewer(struct request *request)
{
	uint32_t uid = 0;
	int err;

	if (request->authenticated || request->service->policy->group)
		return 0;
	err = peer_user(&request->client->peer, &uid);
	if (err && request->client->peer.kind != PEER_ELSEWHERE)
		return OWNER_UNKNOWN;
	return err ? 0 : uid;
}

int admit_same_site(struct request *request, struct refusal *ret_refusal)
{
	const char *site = request_client_header(request, "Sec-Fetch-Site");
	const char *origin = request_client_header(request, "Origin");
	const char *host = request_host(request);

	if ((!site || !strcmp(site, "same-origin") || !strcmp(site, "none")) &&
	    (!origin || (host && origin_is_host(origin, host))))
		return 0;
	request->parking->stats.refused_private++;
	return refuse(ret_refusal, MHD_HTTP_FORBIDDEN,
	              "another web page sent this request: open this address directly, or use "
	              "profd's own page");
}
