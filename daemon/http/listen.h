/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The addresses that profd listens on. They are bound before anything else starts, so that a port
 * in use is reported at once, before the kernel half is loaded.
 */
#pragma once

#include "base/bounds.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

struct listen_address {
	union {
		struct sockaddr any;
		struct sockaddr_storage storage;
		struct sockaddr_un local;
	} socket;
	socklen_t socket_len;
	bool both_families; /* ":PORT": both IPv4 and IPv6 */
};

struct listener {
	int fd;
	char name[128]; /* as bound: the real port instead of 0 */
	bool local;     /* a unix socket */
	char path[108]; /* of a unix socket that profd made and will unlink; else "" */
};

struct listeners {
	struct listener at[MAX_LISTENERS];
	size_t count;
};

/* "ADDR:PORT", "[ADDR6]:PORT", ":PORT", "localhost:PORT" or "unix:PATH". Pure; -EINVAL. */
int listen_parse(const char *text, struct listen_address *ret_address);
/* Whether only this host can reach the address. Pure. */
bool listen_is_local(const struct listen_address *address);
/* Opens all addresses or none. `ret_why` is one line for a person ("cannot listen on
 * 127.0.0.1:9090: ..."). */
int listeners_open(const char *const *addresses, size_t count, struct listeners *ret_listeners,
                   char ret_why[256]);
/* Sets the name of a bound socket: "127.0.0.1:9090", "[::]:9090", "unix:PATH" or "unix:@NAME". */
void listener_name(struct listener *listener);
/* Closes the sockets that are still open and unlinks the unix sockets that profd made. */
void listeners_release(struct listeners *listeners);
