/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Whether the name that a client has for us is one of ours. A web page can have its own name lead
 * to any address, 127.0.0.1 among them, and then reads what is answered there, as from its own
 * server; but its name is what the browser then sends as Host (DNS rebinding). A name that nobody
 * else can have, or that the operator has named, is good. Pure; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/utsname.h>

/* `host` is the value of a Host header, with its port if any: an address, localhost or a name that
 * ends with .localhost, the name of `self` with its domain or without, or one of `allowed`, words
 * separated by blanks or NULL. */
bool host_is_ours(const char *host, const struct utsname *self, const char *allowed);
/* The scheme, host and port of an address such as Origin has are those that `host` asked for. */
bool origin_is_host(const char *origin, const char *host);
