/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * libmicrohttpd driven by libuv: one MHD daemon for each listening socket; a uv_poll_t watches its
 * epoll descriptor, a uv_timer_t its next time-out. Everything happens on the loop thread.
 */
#include "http/server.h"

#include "base/clock.h"
#include "http/client.h"
#include "http/entrance.h"
#include "http/route.h"

#include <errno.h>
#include <gnutls/abstract.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

enum {
	IDLE_TIMEOUT_SECONDS = 15, /* not for suspended requests */
	/* Kept for open executable files, BPF maps and files in /proc: connections may not take
	 * these. */
	RESERVED_DESCRIPTORS = 2048,
	MIN_CONNECTIONS = 64,
	GIVE_UP_MS = 5000,        /* interval of the search for clients that read too slowly */
	CLIENTS_SURE_OF_ROOM = 4, /* it takes this many clients to use up all connections */
	SETTLING_TURNS = 16,      /* of libmicrohttpd at once: enough to send short answers */
};

/* One listening socket. */
struct port {
	struct server *server;
	struct MHD_Daemon *mhd;
	uv_poll_t poll;
	uv_timer_t timer;
	bool watched;
	bool resumed; /* a request was resumed since the last turn began */
	bool local;   /* a unix socket */
};

struct server {
	struct service service;
	struct listeners listeners;
	struct parking parking;
	struct port ports[MAX_LISTENERS];
	size_t port_count;
	uv_timer_t give_up, late;
	bool has_timers;
	struct arrivals arrivals;
	struct crowd connected; /* connections, by peer_account() */
	struct handshakes handshakes;
	size_t room; /* for the connections of one client, whatever the settings say */
};

static void port_turn(struct port *port);

static void on_timer(uv_timer_t *timer)
{
	port_turn(timer->data);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
	(void)status, (void)events;
	port_turn(poll->data);
}

static void port_turn(struct port *port)
{
	MHD_UNSIGNED_LONG_LONG timeout_ms;

	port->resumed = false;
	MHD_run(port->mhd);
	/* libmicrohttpd's time-out does not account for requests that were resumed in this turn. */
	if (port->resumed)
		uv_timer_start(&port->timer, on_timer, 0, 0);
	else if (MHD_get_timeout(port->mhd, &timeout_ms) == MHD_YES)
		uv_timer_start(&port->timer, on_timer, timeout_ms, 0);
	else
		uv_timer_stop(&port->timer);
}

/* Runs all ports instead of the request's own: there are few, and a turn without work is cheap. */
static void on_resumed(struct parking *parking)
{
	struct server *server =
		(struct server *)((char *)parking - offsetof(struct server, parking));

	for (size_t i = 0; i < server->port_count; i++) {
		struct port *port = &server->ports[i];

		port->resumed = true;
		if (port->watched)
			uv_timer_start(&port->timer, on_timer, 0, 0);
	}
}

static void on_give_up(uv_timer_t *timer)
{
	struct server *server = timer->data;

	parking_give_up(&server->parking, clock_mono_ns());
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

/* Turns until libmicrohttpd has nothing more to do at once: an idle connection that it ends in one
 * turn is gone in the next. */
static void port_settle(struct port *port)
{
	MHD_UNSIGNED_LONG_LONG timeout_ms = 0;

	for (int i = 0; i < SETTLING_TURNS && !timeout_ms; i++) {
		MHD_run(port->mhd);
		if (MHD_get_timeout(port->mhd, &timeout_ms) != MHD_YES)
			break;
	}
}

static void on_late(uv_timer_t *timer);

/* Starts the timer for the first deadline, unless it is running. */
static void watch_arrivals(struct server *server)
{
	const struct arrival *first = server->arrivals.first;
	uint64_t now_ns = clock_mono_ns();

	if (first && !uv_is_active((uv_handle_t *)&server->late))
		uv_timer_start(&server->late, on_late,
		               first->due_mono_ns > now_ns
		                       ? (first->due_mono_ns - now_ns) / NSEC_PER_MSEC + 1
		                       : 0,
		               0);
}

/* First lets libmicrohttpd read what has arrived by now and end idle connections: also when this
 * thread got no CPU for a while, a request that came in time is answered, and a client that sent
 * nothing is not counted as late. */
static void on_late(uv_timer_t *timer)
{
	struct server *server = timer->data;
	uint64_t now_ns = clock_mono_ns();
	struct arrival *arrival;

	for (size_t i = 0; i < server->port_count; i++) {
		port_settle(&server->ports[i]);
		port_turn(&server->ports[i]);
	}
	while ((arrival = arrivals_take_late(&server->arrivals, now_ns))) {
		server->parking.stats.requests_late++;
		hang_up(client_of(arrival));
	}
	watch_arrivals(server);
}

static void await_request(struct server *server, struct client *client)
{
	arrivals_await(&server->arrivals, &client->arrival, clock_mono_ns());
	watch_arrivals(server);
}

/* Whether there is room for one more connection of this client. */
static bool let_in(struct port *port, struct client *client)
{
	struct server *server = port->server;
	struct client_stats *stats = &server->parking.stats;
	size_t each = server->service.policy->max_client_connections;

	client->root = !peer_account(&client->peer, &client->account);
	if (client->root)
		return true;
	if (each > server->room)
		each = server->room;
	if (crowd_enter(&server->connected, &client->account,
	                (struct crowd_limits){SIZE_MAX, each})) {
		stats->refused_connections++;
		return false;
	}
	client->counted = true;
	if (!client->tls)
		return true;
	client->handshake =
		handshakes_begin(&server->handshakes, &client->account, clock_mono_ns());
	stats->refused_handshakes += !client->handshake;
	return client->handshake;
}

/* When a request's arguments exceed libmicrohttpd's memory, it reports the request's start but not
 * its end: so the request is freed here. */
static void end_client(struct server *server, struct client *client)
{
	if (!client)
		return;
	request_free(client->request);
	arrivals_end(&server->arrivals, &client->arrival);
	handshake_end(client->handshake);
	if (client->counted)
		crowd_leave(&server->connected, &client->account);
	client_free(client);
}

/* When out of memory there is no client: request_new() then fails, and the first request is not
 * answered. */
static void on_connection(void *ctx, struct MHD_Connection *connection, void **socket_context,
                          enum MHD_ConnectionNotificationCode what)
{
	struct port *port = ctx;
	struct server *server = port->server;
	struct client *client;

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		server->parking.connections--;
		end_client(server, *socket_context);
		*socket_context = NULL;
		return;
	}
	server->parking.connections++;
	client = client_new(connection, port->local ? NULL : server->service.access->tls);
	*socket_context = client;
	if (!client)
		return;
	await_request(server, client);
	if (!let_in(port, client))
		hang_up(client);
}

static void *on_uri(void *ctx, const char *uri, struct MHD_Connection *connection)
{
	struct server *server = ctx;
	struct request *request = request_new(&server->service, &server->parking, connection, uri);

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
static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_len, void **request_ctx)
{
	struct request *request = *request_ctx;
	struct server *server = ctx;

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
	arrivals_end(&server->arrivals, &request->client->arrival);
	if (entrance_pass(request))
		route_dispatch(request, method);
	if (request->suspended)
		return MHD_YES;
	return request->response ? send_answer(request) : MHD_NO;
}

static void on_completed(void *ctx, struct MHD_Connection *connection, void **request_ctx,
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

/* The callback that libmicrohttpd uses when client_new() has failed. */
static int no_certificate(gnutls_session_t session, const gnutls_datum_t *request, int request_len,
                          const gnutls_pk_algorithm_t *algorithms, int algorithms_len,
                          gnutls_pcert_st **chain, unsigned int *chain_len, gnutls_privkey_t *key)
{
	(void)session, (void)request, (void)request_len, (void)algorithms, (void)algorithms_len;
	(void)chain, (void)chain_len, (void)key;
	return -1;
}

/* Malformed input from clients must not fill the log. */
static void ignore_message(void *ctx, const char *format, va_list args)
{
	(void)ctx, (void)format, (void)args;
}

static unsigned int connections_per_port(size_t port_count)
{
	struct rlimit limit = {.rlim_cur = 1024};
	rlim_t each = MIN_CONNECTIONS;

	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur > RESERVED_DESCRIPTORS)
		each = (limit.rlim_cur - RESERVED_DESCRIPTORS) / port_count;
	if (each < MIN_CONNECTIONS)
		each = MIN_CONNECTIONS;
	return each < MAX_CONNECTIONS ? (unsigned int)each : MAX_CONNECTIONS;
}

static int port_listen(struct port *port, struct server *server, struct listener *listener)
{
	unsigned int flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
	struct MHD_OptionItem plain[] = {{MHD_OPTION_END, 0, NULL}};
	struct MHD_OptionItem encrypted[] = {
		{MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)no_certificate},
		{MHD_OPTION_END, 0, NULL},
	};
	bool encrypts;

	port->server = server;
	port->local = listener->local;
	encrypts = server->service.access->tls && !port->local;
	if (encrypts)
		flags |= MHD_USE_TLS;
	/* The logger comes first, so that it receives messages about the other options, too. */
	port->mhd = MHD_start_daemon(
		flags, 0, NULL, NULL, on_request, server, MHD_OPTION_EXTERNAL_LOGGER,
		ignore_message, NULL, MHD_OPTION_LISTEN_SOCKET, listener->fd,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MAX_REQUEST_BYTES,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)IDLE_TIMEOUT_SECONDS,
		MHD_OPTION_CONNECTION_LIMIT, connections_per_port(server->listeners.count),
		MHD_OPTION_URI_LOG_CALLBACK, on_uri, server, MHD_OPTION_NOTIFY_COMPLETED,
		on_completed, server, MHD_OPTION_NOTIFY_CONNECTION, on_connection, port,
		MHD_OPTION_ARRAY, encrypts ? encrypted : plain, MHD_OPTION_END);
	if (!port->mhd)
		return -EIO;
	listener->fd = -1; /* owned by libmicrohttpd from here on */
	return 0;
}

static int port_watch(struct port *port, uv_loop_t *loop)
{
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(port->mhd, MHD_DAEMON_INFO_EPOLL_FD);
	int err;

	if (!info)
		return -EIO;
	err = uv_poll_init(loop, &port->poll, info->epoll_fd);
	if (err)
		return err;
	uv_timer_init(loop, &port->timer);
	port->poll.data = port->timer.data = port;
	port->watched = true;
	return uv_poll_start(&port->poll, UV_READABLE, on_readable);
}

int server_start(const struct service *service, struct listeners *listeners,
                 struct server **ret_server, char ret_why[256])
{
	struct server *server = calloc(1, sizeof(*server));
	int err = 0;

	if (!server) {
		listeners_release(listeners);
		snprintf(ret_why, 256, "cannot start the HTTP server: out of memory");
		return -ENOMEM;
	}
	server->service = *service;
	server->parking.resumed = on_resumed;
	server->listeners = *listeners;
	*listeners = (struct listeners){0};
	server->room = connections_per_port(server->listeners.count) / CLIENTS_SURE_OF_ROOM;
	uv_timer_init(service->loop, &server->give_up);
	uv_timer_init(service->loop, &server->late);
	server->give_up.data = server->late.data = server;
	server->has_timers = true;
	uv_timer_start(&server->give_up, on_give_up, GIVE_UP_MS, GIVE_UP_MS);
	for (size_t i = 0; !err && i < server->listeners.count; i++) {
		server->port_count++;
		err = port_listen(&server->ports[i], server, &server->listeners.at[i]);
		if (!err)
			err = port_watch(&server->ports[i], service->loop);
	}
	if (err) {
		snprintf(ret_why, 256, "cannot start the HTTP server: %s", strerror(-err));
		server_stop(server);
		/* The handles are part of the server. */
		uv_run(service->loop, UV_RUN_NOWAIT);
		server_free(server);
		return err;
	}
	*ret_server = server;
	return 0;
}

static void port_stop(struct port *port)
{
	if (!port->mhd)
		return;
	/* Sends the refusals that parking_clear() has queued. */
	port_settle(port);
	/* The poll handle leaves the loop before its descriptor is closed. */
	if (port->watched) {
		uv_close((uv_handle_t *)&port->poll, NULL);
		uv_close((uv_handle_t *)&port->timer, NULL);
		port->watched = false;
	}
	MHD_stop_daemon(port->mhd);
	port->mhd = NULL;
}

void server_stop(struct server *server)
{
	if (!server)
		return;
	parking_clear(&server->parking);
	for (size_t i = 0; i < server->port_count; i++)
		port_stop(&server->ports[i]);
	if (server->has_timers) {
		uv_close((uv_handle_t *)&server->give_up, NULL);
		uv_close((uv_handle_t *)&server->late, NULL);
	}
	server->has_timers = false;
	listeners_release(&server->listeners);
}

void server_free(struct server *server)
{
	if (!server)
		return;
	buf_release(&server->parking.metrics.bytes);
	buf_release(&server->parking.status.bytes);
	free(server);
}
