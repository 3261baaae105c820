/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * libmicrohttpd driven by libuv: one MHD daemon for each listening socket; a uv_poll_t watches its
 * epoll descriptor, a uv_timer_t its next time-out. Everything happens on the loop thread. What it
 * says about connections and requests goes to http/connections.h.
 */
#include "http/server.h"

#include "http/connections.h"

#include <errno.h>
#include <gnutls/abstract.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

enum {
	/* For clients that take nothing of an answer; suspended requests have none. libmicrohttpd
	 * ends an idle connection without a look at what has arrived on it: where this is longer
	 * than access/arrivals.h's deadline by more than this thread may get no CPU, no request
	 * is lost. */
	IDLE_TIMEOUT_SECONDS = 30,
	/* Kept for open executable files, BPF maps and files in /proc: connections may not take
	 * these. */
	RESERVED_DESCRIPTORS = 2048,
	MIN_CONNECTIONS = 64,
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
	struct connections connections;
	struct port ports[MAX_LISTENERS];
	size_t port_count;
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
		(struct server *)((char *)parking - offsetof(struct server, connections.parking));

	for (size_t i = 0; i < server->port_count; i++) {
		struct port *port = &server->ports[i];

		port->resumed = true;
		if (port->watched)
			uv_timer_start(&port->timer, on_timer, 0, 0);
	}
}

/* Turns until libmicrohttpd has nothing more to do at once: what it accepts, it reads in the next
 * turn. */
static void port_settle(struct port *port)
{
	MHD_UNSIGNED_LONG_LONG timeout_ms = 0;

	for (int i = 0; i < SETTLING_TURNS && !timeout_ms; i++) {
		MHD_run(port->mhd);
		if (MHD_get_timeout(port->mhd, &timeout_ms) != MHD_YES)
			break;
	}
}

static void on_read_now(struct connections *connections)
{
	struct server *server =
		(struct server *)((char *)connections - offsetof(struct server, connections));

	for (size_t i = 0; i < server->port_count; i++) {
		port_settle(&server->ports[i]);
		port_turn(&server->ports[i]);
	}
}

static void on_connection(void *ctx, struct MHD_Connection *connection, void **socket_context,
                          enum MHD_ConnectionNotificationCode what)
{
	struct port *port = ctx;
	struct server *server = port->server;

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		connections_end(&server->connections, *socket_context);
		*socket_context = NULL;
		return;
	}
	*socket_context = connections_begin(&server->connections, connection,
	                                    port->local ? NULL : server->service.access->tls);
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
	struct connections *connections = &server->connections;
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
		flags, 0, NULL, NULL, connections_on_request, connections,
		MHD_OPTION_EXTERNAL_LOGGER, ignore_message, NULL, MHD_OPTION_LISTEN_SOCKET,
		listener->fd, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MAX_REQUEST_BYTES,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)IDLE_TIMEOUT_SECONDS,
		MHD_OPTION_CONNECTION_LIMIT, connections_per_port(server->listeners.count),
		MHD_OPTION_URI_LOG_CALLBACK, connections_on_uri, connections,
		MHD_OPTION_NOTIFY_COMPLETED, connections_on_completed, connections,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, port, MHD_OPTION_ARRAY,
		encrypts ? encrypted : plain, MHD_OPTION_END);
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
	server->listeners = *listeners;
	*listeners = (struct listeners){0};
	server->connections.service = &server->service;
	server->connections.parking.resumed = on_resumed;
	server->connections.read_now = on_read_now;
	server->connections.room =
		connections_per_port(server->listeners.count) / CLIENTS_SURE_OF_ROOM;
	connections_start(&server->connections);
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
	parking_clear(&server->connections.parking);
	for (size_t i = 0; i < server->port_count; i++)
		port_stop(&server->ports[i]);
	connections_stop(&server->connections);
	listeners_release(&server->listeners);
}

void server_free(struct server *server)
{
	if (!server)
		return;
	connections_release(&server->connections);
	free(server);
}
