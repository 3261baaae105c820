/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Names of this host, as clients send them in Host.
 */
#include "access/host_name.h"

#include "base/text.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

enum { MAX_HOST_BYTES = 253 }; /* the limit for a DNS name */

static const char localhost[] = "localhost";

static bool is_port(const char *text)
{
	uint64_t port;

	return !*text || text_parse_u64(text, 0, UINT16_MAX, &port) == 0;
}

/* Copies the name or address without the port, brackets, and the dot that may end a name. */
static bool read_host(const char *host, char name[MAX_HOST_BYTES + 1], bool *ret_bracketed)
{
	size_t len = strcspn(host, ":");
	const char *rest = host + len;

	*ret_bracketed = host[0] == '[';
	if (*ret_bracketed) {
		host++;
		len = strcspn(host, "]");
		if (!host[len])
			return false;
		rest = host + len + 1;
	}
	if (!len || len > MAX_HOST_BYTES || (*rest && (*rest != ':' || !is_port(rest + 1))))
		return false;
	memcpy(name, host, len);
	name[len] = '\0';
	if (!*ret_bracketed && name[len - 1] == '.')
		name[len - 1] = '\0';
	return true;
}

static bool is_address(const char *name, bool bracketed)
{
	struct in6_addr address;

	return inet_pton(bracketed ? AF_INET6 : AF_INET, name, &address) == 1;
}

static bool is_localhost(const char *name)
{
	size_t len = strlen(name), tail = strlen(localhost);

	return len >= tail && !strcasecmp(name + len - tail, localhost) &&
	       (len == tail || name[len - tail - 1] == '.');
}

/* A host may be addressed by its name with or without the domain, and its node name may be either.
 */
static bool is_self(const char *name, const struct utsname *self)
{
	size_t len = strcspn(self->nodename, ".");

	if (!len)
		return false;
	if (!strcasecmp(name, self->nodename))
		return true;
	if (strncasecmp(name, self->nodename, len) != 0)
		return false;
	return !name[len] || (name[len] == '.' && !strcasecmp(name + len + 1, self->domainname));
}

static bool is_allowed(const char *name, const char *allowed)
{
	struct text rest = text_of(allowed ? allowed : "", allowed ? strlen(allowed) : 0), word;

	while (text_word(&rest, &word)) {
		size_t len = (size_t)(word.end - word.at);

		if (len == strlen(name) && !strncasecmp(name, word.at, len))
			return true;
	}
	return false;
}

bool host_is_ours(const char *host, const struct utsname *self, const char *allowed)
{
	char name[MAX_HOST_BYTES + 1];
	bool bracketed;

	if (!read_host(host, name, &bracketed))
		return false;
	if (is_address(name, bracketed))
		return true;
	return !bracketed &&
	       (is_localhost(name) || is_self(name, self) || is_allowed(name, allowed));
}

bool origin_is_host(const char *origin, const char *host)
{
	static const char *const schemes[] = {"http://", "https://"};

	for (size_t i = 0; i < 2; i++) {
		size_t len = strlen(schemes[i]);

		if (!strncasecmp(origin, schemes[i], len))
			return !strcasecmp(origin + len, host);
	}
	return false;
}
