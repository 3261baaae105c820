/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Requests: the common headers of answers, and suspension.
 */
#include "http/request.h"

#include "base/clock.h"
#include "http/hangup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

/* A client that takes longer to receive an answer than a slow line explains only keeps memory in
 * use. */
enum {
	SEND_SECONDS = 30,
	SEND_BYTES_PER_SECOND = 32 * 1024,
};
/* One part in this many of max-requests is for root alone. */
enum { KEPT_PART = 16 };

static const char plain_text[] = "text/plain; charset=utf-8";
/* An answer that is not profd's page may run and load nothing, and may not be framed. */
static const char nothing_allowed[] = "default-src 'none'; frame-ancestors 'none'";

/* An absolute URL, as proxies send it, names the host in place of the Host header. */
static int read_uri(struct request *request, const char *uri)
{
	static const char *const schemes[] = {"http://", "https://"};
	const char *rest = uri;
	char *question;

	for (size_t i = 0; i < 2 && !request->authority; i++) {
		size_t len = strlen(schemes[i]);

		if (strncasecmp(uri, schemes[i], len) != 0)
			continue;
		rest = uri + len + strcspn(uri + len, "/?");
		request->authority = strndup(uri + len, (size_t)(rest - uri) - len);
		if (!request->authority)
			return -ENOMEM;
	}
	if (asprintf(&request->path, "%s%s", request->authority && *rest != '/' ? "/" : "", rest) <
	    0) {
		request->path = NULL;
		return -ENOMEM;
	}
	request->raw_query = "";
	question = strchr(request->path, '?');
	if (question) {
		*question = '\0';
		request->raw_query = question + 1;
	}
	return 0;
}

struct request *request_new(const struct service *service, struct parking *parking,
                            struct MHD_Connection *connection, const char *uri)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct request *request = calloc(1, sizeof(*request));

	if (!request)
		return NULL;
	request->service = service;
	request->parking = parking;
	request->connection = connection;
	request->client = info ? info->socket_context : NULL;
	if (!request->client || read_uri(request, uri) < 0) {
		request_free(request);
		return NULL;
	}
	parking->stats.requests++;
	request->client->request = request;
	return request;
}

const char *request_client_header(const struct request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

const char *request_host(const struct request *request)
{
	return request->authority ? request->authority
	                          : request_client_header(request, MHD_HTTP_HEADER_HOST);
}

/* Inserts at the head of one of the parking's lists. */
static void link_request(struct request *request, struct request **list)
{
	request->prev = NULL;
	request->next = *list;
	if (*list)
		(*list)->prev = request;
	*list = request;
}

static void unlink_request(struct request *request, struct request **list)
{
	if (request->prev)
		request->prev->next = request->next;
	else
		*list = request->next;
	if (request->next)
		request->next->prev = request->prev;
	request->next = request->prev = NULL;
}

static void unpark(struct request *request)
{
	struct parking *parking = request->parking;

	unlink_request(request, &parking->first);
	request->owner = NULL;
	hangup_stop(request->hangup);
	request->hangup = NULL;
	parking->count--;
}

/* Root's requests are counted only in the total, so that no other user's requests keep them out;
 * but those from an address other than the loopback count like any client's. */
static bool is_counted(const struct request *request)
{
	return !request->client->root || request->client->peer.kind == PEER_ELSEWHERE;
}

static int enter_crowd(struct request *request)
{
	const struct policy *policy = request->service->policy;
	struct crowd *crowd = &request->parking->crowd;
	const struct client *client = request->client;
	size_t all = policy->max_requests;

	if (!is_counted(request))
		return crowd_enter(crowd, NULL, (struct crowd_limits){all, all});
	all -= all / KEPT_PART;
	if (client_is_user(client))
		return crowd_enter_share(crowd, &client->account, all);
	return crowd_enter(crowd, &client->account,
	                   (struct crowd_limits){all, policy->max_client_requests});
}

static int enter(struct request *request)
{
	struct client_stats *stats = &request->parking->stats;
	int err = enter_crowd(request);

	stats->refused_full += err == -EAGAIN;
	stats->refused_client += err == -EUSERS;
	request->entered = !err;
	return err;
}

static void leave(struct request *request)
{
	if (!request->entered)
		return;
	crowd_leave(&request->parking->crowd,
	            is_counted(request) ? &request->client->account : NULL);
	request->entered = false;
}

void request_free(struct request *request)
{
	if (!request)
		return;
	if (request->owner) {
		request->abandon(request->owner);
		unpark(request);
	}
	if (request->is_sending)
		unlink_request(request, &request->parking->sending);
	leave(request);
	if (request->client && request->client->request == request)
		request->client->request = NULL;
	if (request->response)
		MHD_destroy_response(request->response);
	query_release(&request->query);
	free(request->authority);
	free(request->path);
	free(request);
}

/* Nobody reads this answer: it only returns the connection to libmicrohttpd, which closes it. */
static void on_hangup(void *ctx)
{
	struct request *request = ctx;

	request->abandon(request->owner);
	request_fail(request, -ECONNRESET);
}

static void watch_hangup(struct request *request)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	if (info)
		request->hangup =
			hangup_watch(request->service->loop, info->connect_fd, on_hangup, request);
}

int request_park(struct request *request, void *owner, void (*abandon)(void *owner))
{
	struct parking *parking = request->parking;
	int err = enter(request);

	if (err)
		return err;
	MHD_suspend_connection(request->connection);
	request->suspended = true;
	request->owner = owner;
	request->abandon = abandon;
	link_request(request, &parking->first);
	parking->count++;
	watch_hangup(request);
	return 0;
}

/* From here on only the client delays the request. */
static void begin_sending(struct request *request, size_t len)
{
	if (!request->is_sending)
		link_request(request, &request->parking->sending);
	request->is_sending = true;
	request->give_up_mono_ns =
		clock_mono_ns() + (SEND_SECONDS + len / SEND_BYTES_PER_SECOND) * NSEC_PER_SEC;
}

static void resume(struct request *request)
{
	unpark(request);
	MHD_resume_connection(request->connection);
	request->parking->resumed(request->parking);
}

void request_go_on(struct request *request)
{
	resume(request);
	leave(request);
}

/* `response` is NULL when out of memory: the server then closes the connection. */
static void respond(struct request *request, unsigned int status, struct MHD_Response *response,
                    size_t len, const char *content_type, const char *cache)
{
	const char *policy = request->content_policy;

	request->status = status;
	request->response = response;
	request_header(request, MHD_HTTP_HEADER_CONTENT_TYPE, content_type);
	request_header(request, MHD_HTTP_HEADER_CACHE_CONTROL, cache);
	request_header(request, "X-Content-Type-Options", "nosniff");
	request_header(request, "Content-Security-Policy", policy ? policy : nothing_allowed);
	request_header(request, "Cross-Origin-Resource-Policy", "same-origin");
	request_header(request, "Referrer-Policy", "no-referrer");
	if (request->close || request->parking->connections > MAX_KEPT_CONNECTIONS)
		request_header(request, MHD_HTTP_HEADER_CONNECTION, "close");
	if (request->owner)
		resume(request);
	begin_sending(request, len);
}

void request_header(struct request *request, const char *name, const char *value)
{
	if (request->response)
		MHD_add_response_header(request->response, name, value);
}

void request_answer_shared(struct request *request, const char *content_type, struct answer *answer)
{
	respond(request, MHD_HTTP_OK, answer_response(answer, client_account(request->client)),
	        answer_size(answer), content_type, "no-store");
}

size_t request_answer_max(const struct request *request)
{
	return answers_largest(client_account(request->client),
	                       request->service->policy->answer_bytes);
}

void request_answer(struct request *request, const char *content_type, struct buf *body)
{
	_cleanup_(answer_unrefp) struct answer *answer = NULL;
	int err = answer_new(&request->parking->answers, body, client_account(request->client),
	                     request->service->policy->answer_bytes, &answer);

	if (err)
		request_fail(request, err);
	else
		request_answer_shared(request, content_type, answer);
}

void request_answer_constant(struct request *request, unsigned int status, const char *content_type,
                             const void *bytes, size_t len)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		len, (void *)(uintptr_t)bytes, MHD_RESPMEM_PERSISTENT);

	respond(request, status, response, len, content_type, "no-cache");
}

/* libmicrohttpd wants a reader for a body of unknown length. */
static ssize_t read_nothing(void *ctx, uint64_t at, char *bytes, size_t max)
{
	(void)ctx, (void)at, (void)bytes, (void)max;
	return MHD_CONTENT_READER_END_OF_STREAM;
}

void request_answer_head(struct request *request, const char *content_type)
{
	struct MHD_Response *response =
		MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 1024, read_nothing, NULL, NULL);

	/* After HEAD, libmicrohttpd 0.9.75 sends the end of a chunked body although it sent no
	 * chunks. */
	if (response)
		MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
	respond(request, MHD_HTTP_OK, response, 0, content_type, "no-store");
}

void request_refuse(struct request *request, const struct refusal *refusal)
{
	char text[sizeof(refusal->text) + 1];
	int len = snprintf(text, sizeof(text), "%s\n", refusal->text);

	respond(request, refusal->status,
	        MHD_create_response_from_buffer((size_t)len, text, MHD_RESPMEM_MUST_COPY),
	        (size_t)len, plain_text, "no-store");
	/* go tool pprof shows the text of an error only when this header is there. */
	request_header(request, "X-Go-Pprof", "1");
	if (refusal->status == MHD_HTTP_SERVICE_UNAVAILABLE ||
	    refusal->status == MHD_HTTP_TOO_MANY_REQUESTS)
		request_header(request, MHD_HTTP_HEADER_RETRY_AFTER, "1");
}

void request_fail(struct request *request, int err)
{
	const struct policy *policy = request->service->policy;
	struct refusal refusal;

	if (err == -EAGAIN)
		refuse(&refusal, MHD_HTTP_SERVICE_UNAVAILABLE,
		       "too many requests are in flight: at most %zu at a time (max-requests); try "
		       "again",
		       policy->max_requests);
	else if (err == -EUSERS)
		refuse(&refusal, MHD_HTTP_TOO_MANY_REQUESTS,
		       "this client has too many in-flight requests: at most %zu at a time "
		       "(max-client-requests); try again",
		       policy->max_client_requests);
	else if (err == -EDQUOT)
		refuse(&refusal, MHD_HTTP_SERVICE_UNAVAILABLE,
		       "this client has used up its share of in-flight requests; try again");
	else if (err == -ECANCELED) /* as of a turn of base/lane.h */
		refuse(&refusal, MHD_HTTP_SERVICE_UNAVAILABLE,
		       "this request has waited for %d s behind others and has not begun; try "
		       "again",
		       (int)(LANE_PATIENCE_NS / NSEC_PER_SEC));
	else if (err == -EBUSY)
		refuse(&refusal, MHD_HTTP_SERVICE_UNAVAILABLE,
		       "this client's requests have taken its share of this second; try again");
	else if (err == -ENOBUFS)
		refuse(&refusal, MHD_HTTP_SERVICE_UNAVAILABLE,
		       "too many answers are still being sent: at most %zu bytes at a time "
		       "(answer-memory), and each client has a share; try again",
		       policy->answer_bytes);
	else if (err == -EFBIG)
		refuse(&refusal, MHD_HTTP_INSUFFICIENT_STORAGE,
		       "this answer exceeds the %zu bytes of answer-memory%s; request less: one "
		       "pid=, a shorter time, or format=pprof",
		       request_answer_max(request),
		       client_account(request->client) ? " that one client may have" : "");
	else if (err == -ENOMEM)
		refuse(&refusal, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory; try again");
	else
		refuse(&refusal, MHD_HTTP_INTERNAL_SERVER_ERROR, "failed: %s", strerror(-err));
	request->parking->stats.refused_full += err == -ECANCELED;
	request->parking->stats.refused_memory += err == -ENOBUFS;
	request->parking->stats.refused_large += err == -EFBIG;
	request->parking->stats.refused_user += err == -EDQUOT || err == -EBUSY;
	request_refuse(request, &refusal);
}

void parking_get_stats(const struct parking *parking, struct client_stats *ret_stats)
{
	*ret_stats = parking->stats;
	ret_stats->under_way = parking->crowd.count;
	ret_stats->answer_bytes = parking->answers.large.taken + parking->answers.small.taken;
}

void parking_give_up(struct parking *parking, uint64_t now_mono_ns)
{
	for (struct request *request = parking->sending; request; request = request->next) {
		if (now_mono_ns < request->give_up_mono_ns)
			continue;
		/* libmicrohttpd then finds the connection broken, and ends it and the request. */
		shutdown(request->client->peer.fd, SHUT_RDWR);
		request->give_up_mono_ns = UINT64_MAX;
		parking->stats.answers_given_up++;
	}
}

void parking_clear(struct parking *parking)
{
	struct refusal refusal;

	refuse(&refusal, MHD_HTTP_SERVICE_UNAVAILABLE, "profd is stopping");
	while (parking->first) {
		struct request *request = parking->first;

		request->abandon(request->owner);
		request_refuse(request, &refusal);
	}
}
