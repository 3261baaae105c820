/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct server - libmicrohttpd inside the event loop: it has no thread of its own, and its epoll
 * descriptor is watched like any other. Loop thread only. A handler answers a request at once, or
 * suspends it and answers later.
 */
#pragma once

#include "http/listen.h"
#include "http/service.h"

struct server;

/* Serves on `listeners`, which the server takes ownership of, on failure too. On failure nothing
 * listens and `ret_why` is one line for a person. */
int server_start(const struct service *service, struct listeners *listeners,
                 struct server **ret_server, char ret_why[256]);
/* Refuses new requests, answers suspended ones with 503 and closes the loop's handles. Call
 * server_free() after the loop has ended. Takes NULL. */
void server_stop(struct server *server);
void server_free(struct server *server);
