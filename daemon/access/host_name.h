/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Whether the name under which a client addresses this host is one of its names. A web page can
 * make its own name resolve to any address, 127.0.0.1 among them, and then read the answers from
 * there as if they came from its own server (DNS rebinding); but the browser sends the page's name
 * as Host. A name is accepted when nobody else can have it, or when the operator has listed it.
 * Pure; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/utsname.h>

/* `host` is the value of a Host header, with its port if any. Accepted are an address, localhost or
 * a name that ends with .localhost, the name of `self` with or without its domain, and the names in
 * `allowed`, which are separated by blanks; NULL: none. */
bool host_is_ours(const char *host, const struct utsname *self, const char *allowed);
/* Whether an Origin header's value, a scheme, host and port, names the host and port in `host`. */
bool origin_is_host(const char *origin, const char *host);
