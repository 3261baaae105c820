/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "http/connections.h"

#include "base/clock.h"
#include "http/entrance.h"
#include "http/route.h"

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

/* Interval of the search for clients that read too slowly. */
enum { GIVE_UP_MS = 5000 };

static void on_give_up(uv_timer_t *timer)
{
	struct connections *connections = timer->data;

	parking_give_up(&connections->parking, clock_mono_ns());
}

/* libmicrohttpd then finds the connection broken, and ends it. */
static void hang_up(const struct client *client)
{
	shutdown(client->peer.fd, SHUT_RDWR);
}

static struct client *client_of(struct arrival *arrival)
{
	return (struct client *)((char *)arrival - offsetof(struct client, arrival));
}

static void on_late(uv_timer_t *timer);

/* Starts the timer for the first deadline, unless it is running. */
static void watch_arrivals(struct connections *connections)
{
	const struct arrival *first = connections->arrivals.first;
	uint64_t now_ns = clock_mono_ns();

	if (first && !uv_is_active((uv_handle_t *)&connections->late))
		uv_timer_start(&connections->late, on_late,
		               first->due_mono_ns > now_ns
		                       ? (first->due_mono_ns - now_ns) / NSEC_PER_MSEC + 1
		                       : 0,
		               0);
}

/* First lets libmicrohttpd read what has arrived by now: also when this thread got no CPU for a
 * while, a request that came in time is answered. A connection without a request is idle, and is
 * not counted: libmicrohttpd tells of a request once its first line is there. */
static void on_late(uv_timer_t *timer)
{
	struct connections *connections = timer->data;
	uint64_t now_ns = clock_mono_ns();
	struct arrival *arrival;

	connections->read_now(connections);
	while ((arrival = arrivals_take_late(&connections->arrivals, now_ns))) {
		const struct client *client = client_of(arrival);

		connections->parking.stats.requests_late += client->request != NULL;
		hang_up(client);
	}
	watch_arrivals(connections);
}

static void await_request(struct connections *connections, struct client *client)
{
	arrivals_await(&connections->arrivals, &client->arrival, clock_mono_ns());
	watch_arrivals(connections);
}

/* Whether there is room for one more connection of this client. */
static bool let_in(struct connections *connections, struct client *client)
{
	struct client_stats *stats = &connections->parking.stats;
	size_t each = connections->service->policy->max_client_connections;

	client->root = !peer_account(&client->peer, &client->account);
	if (client->root)
		return true;
	if (each > connections->room)
		each = connections->room;
	if (crowd_enter(&connections->connected, &client->account,
	                (struct crowd_limits){SIZE_MAX, each})) {
		stats->refused_connections++;
		return false;
	}
	client->counted = true;
	if (!client->tls)
		return true;
	client->handshake =
		handshakes_begin(&connections->handshakes, &client->account, clock_mono_ns());
	stats->refused_handshakes += !client->handshake;
	return client->handshake;
}

/* When out of memory there is no client: request_new() then fails, and the first request is not
 * answered. */
struct client *connections_begin(struct connections *connections, struct MHD_Connection *connection,
                                 struct tls *tls)
{
	struct client *client;

	connections->parking.connections++;
	client = client_new(connection, tls);
	if (!client)
		return NULL;
	await_request(connections, client);
	if (!let_in(connections, client))
		hang_up(client);
	return client;
}

/* When a request's arguments exceed libmicrohttpd's memory, it reports the request's start but not
 * its end: so the request is freed here. */
void connections_end(struct connections *connections, struct client *client)
{
	connections->parking.connections--;
	if (!client)
		return;
	request_free(client->request);
	arrivals_end(&connections->arrivals, &client->arrival);
	handshake_end(client->handshake);
	if (client->counted)
		crowd_leave(&connections->connected, &client->account);
	client_free(client);
}

void *connections_on_uri(void *ctx, const char *uri, struct MHD_Connection *connection)
{
	struct connections *connections = ctx;
	struct request *request =
		request_new(connections->service, &connections->parking, connection, uri);

	if (request) {
		handshake_end(request->client->handshake);
		request->client->handshake = NULL;
	}
	return request;
}

/* Headers of the web configuration replace profd's. */
static void add_headers(struct request *request)
{
	const struct web_config *config = &request->service->access->config;

	for (size_t i = 0; i < WEB_HEADER_COUNT; i++) {
		const char *name = web_header_names[i], *ours;

		if (!config->headers[i])
			continue;
		ours = MHD_get_response_header(request->response, name);
		if (ours)
			MHD_del_response_header(request->response, name, ours);
		request_header(request, name, config->headers[i]);
	}
}

static enum MHD_Result send_answer(struct request *request)
{
	add_headers(request);
	return MHD_queue_response(request->connection, request->status, request->response);
}

/* Called when the headers are complete, for each piece of a body, when the whole body has arrived,
 * and again after a suspended request was resumed. */
enum MHD_Result connections_on_request(void *ctx, struct MHD_Connection *connection,
                                       const char *url, const char *method, const char *version,
                                       const char *upload, size_t *upload_len, void **request_ctx)
{
	struct request *request = *request_ctx;
	struct connections *connections = ctx;

	(void)connection, (void)url, (void)upload;
	if (!request)
		return MHD_NO;
	request->suspended = false;
	if (request->response)
		return send_answer(request);
	/* There was no memory for the answer. */
	if (request->is_sending)
		return MHD_NO;
	if (!request->started) {
		request->started = true;
		request->needs_host = strcmp(version, MHD_HTTP_VERSION_1_0) != 0;
		return MHD_YES;
	}
	/* No endpoint takes a body, but a client that sends one reads the answer only after its
	 * body was read. */
	if (*upload_len) {
		*upload_len = 0;
		return MHD_YES;
	}
	arrivals_end(&connections->arrivals, &request->client->arrival);
	if (entrance_pass(request))
		route_dispatch(request, method);
	if (request->suspended)
		return MHD_YES;
	return request->response ? send_answer(request) : MHD_NO;
}

void connections_on_completed(void *ctx, struct MHD_Connection *connection, void **request_ctx,
                              enum MHD_RequestTerminationCode why)
{
	struct request *request = *request_ctx;
	struct client *client = request ? request->client : NULL;

	(void)connection, (void)why;
	request_free(request);
	*request_ctx = NULL;
	if (client)
		await_request(ctx, client);
}

void connections_start(struct connections *connections)
{
	uv_loop_t *loop = connections->service->loop;

	uv_timer_init(loop, &connections->give_up);
	uv_timer_init(loop, &connections->late);
	connections->give_up.data = connections->late.data = connections;
	connections->has_timers = true;
	uv_timer_start(&connections->give_up, on_give_up, GIVE_UP_MS, GIVE_UP_MS);
}

void connections_stop(struct connections *connections)
{
	if (connections->has_timers) {
		uv_close((uv_handle_t *)&connections->give_up, NULL);
		uv_close((uv_handle_t *)&connections->late, NULL);
	}
	connections->has_timers = false;
}

void connections_release(struct connections *connections)
{
	buf_release(&connections->parking.metrics.bytes);
	buf_release(&connections->parking.status.bytes);
	shares_clear(&connections->parking.loop_time.shares);
}
