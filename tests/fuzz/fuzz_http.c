/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes that a client sends, over a socket through libmicrohttpd to requests and routes. Only
 * the routes that need no kernel half are served. Each answer of profd is complete: a refusal is
 * one line and has the common headers.
 */
#include "base/cleanup.h"
#include "http/route.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_BYTES = 64 * 1024, TURNS = 64 };

static struct service service;
static struct policy policy = {
	.on_demand = true,
	.allow_hosts = "a.example b.example",
	.max_seconds = 600,
	.max_requests = 4,
	.max_client_requests = 2,
	.answer_bytes = 1 << 20,
};
static struct utsname host = {.nodename = "box"};
static struct parking parking;
static struct client client_of_all;

static void on_resumed(struct parking *of)
{
	(void)of;
}

static void *on_uri(void *ctx, const char *uri, struct MHD_Connection *connection)
{
	(void)ctx;
	return request_new(&service, &parking, connection, uri);
}

static void on_connection(void *ctx, struct MHD_Connection *connection, void **socket_context,
                          enum MHD_ConnectionNotificationCode what)
{
	(void)ctx, (void)connection;
	if (what == MHD_CONNECTION_NOTIFY_CLOSED)
		request_free(client_of_all.request);
	*socket_context = what == MHD_CONNECTION_NOTIFY_STARTED ? &client_of_all : NULL;
}

/* Only these handlers read no recorded data. All other routes are left out. */
static bool needs_nothing(const struct route *route)
{
	return !route || route->handle == handle_page_file || route->handle == handle_index ||
	       route->handle == handle_pprof_index || route->handle == handle_healthz;
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_len, void **request_ctx)
{
	struct request *request = *request_ctx;

	(void)ctx, (void)connection, (void)url, (void)upload;
	if (!request)
		return MHD_NO;
	if (!request->started) {
		request->started = true;
		request->needs_host = strcmp(version, MHD_HTTP_VERSION_1_0) != 0;
		return MHD_YES;
	}
	if (*upload_len) {
		*upload_len = 0;
		return MHD_YES;
	}
	if (!needs_nothing(route_find(request->path)))
		return MHD_NO;
	route_dispatch(request, method);
	if (!request->response || request->suspended)
		abort();
	if (!MHD_get_response_header(request->response, "Content-Security-Policy") ||
	    !MHD_get_response_header(request->response, "X-Content-Type-Options"))
		abort();
	return MHD_queue_response(connection, request->status, request->response);
}

static void on_completed(void *ctx, struct MHD_Connection *connection, void **request_ctx,
                         enum MHD_RequestTerminationCode why)
{
	(void)ctx, (void)connection, (void)why;
	request_free(*request_ctx);
	*request_ctx = NULL;
}

static void ignore_message(void *ctx, const char *format, va_list args)
{
	(void)ctx, (void)format, (void)args;
}

static struct MHD_Daemon *start(void)
{
	return MHD_start_daemon(MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ERROR_LOG, 0, NULL, NULL,
	                        on_request, NULL, MHD_OPTION_EXTERNAL_LOGGER, ignore_message, NULL,
	                        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MAX_REQUEST_BYTES,
	                        MHD_OPTION_URI_LOG_CALLBACK, on_uri, NULL,
	                        MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL,
	                        MHD_OPTION_NOTIFY_CONNECTION, on_connection, NULL, MHD_OPTION_END);
}

/* The input may end in an incomplete request. */
static void serve(struct MHD_Daemon *daemon, int client, const uint8_t *data, size_t size)
{
	char answer[4096];

	for (size_t at = 0, turn = 0; turn < TURNS; turn++) {
		ssize_t sent =
			at < size ? send(client, data + at, size - at, MSG_DONTWAIT | MSG_NOSIGNAL)
				  : 0;

		at += sent > 0 ? (size_t)sent : 0;
		MHD_run(daemon);
		if (recv(client, answer, sizeof(answer), MSG_DONTWAIT) == 0)
			break; /* the server has hung up */
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct MHD_Daemon *daemon;
	struct sockaddr_storage address = {.ss_family = AF_UNIX};
	_cleanup_close_ int client = -1;
	int ends[2];

	if (!size || size > MAX_BYTES)
		return 0;
	service.policy = &policy;
	service.host = &host;
	parking.resumed = on_resumed;
	daemon = daemon ? daemon : start();
	/* The first byte selects the kind of peer. */
	address.ss_family = data[0] & 1 ? AF_UNIX : AF_INET;
	peer_of_address(&client_of_all.peer, &address);
	if (!daemon || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) < 0)
		abort();
	client = ends[0];
	if (MHD_add_connection(daemon, ends[1], (struct sockaddr *)&address, sizeof(address)) !=
	    MHD_YES)
		abort();
	serve(daemon, client, data + 1, size - 1);
	shutdown(client, SHUT_RDWR);
	for (int i = 0; i < 4; i++)
		MHD_run(daemon);
	if (parking.count || parking.crowd.count || parking.answers.large.taken ||
	    parking.answers.small.taken)
		abort();
	return 0;
}
