/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct peer - who has the other end of a connection: a process of this host, by a unix socket or
 * the loopback, or somebody elsewhere. Read once for each connection; loop thread only.
 */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

enum peer_kind {
	PEER_UNIX,
	PEER_LOOPBACK, /* 127.0.0.0/8 and ::1, which the kernel lets in from this host only */
	PEER_ELSEWHERE,
};

struct peer {
	enum peer_kind kind;
	struct in6_addr address; /* IPv4 as IPv6; of a unix socket all zeroes */
	int fd;                  /* of the connection, which is open for as long as the peer is */
	bool looked_up;          /* for its user */
	int error;               /* of that: -ENOENT: no user of this host */
	uint32_t uid;
};

/* Of what cannot be read: somebody elsewhere. */
void peer_read(struct peer *ret_peer, int fd);
/* Pure: of an address as getpeername() has it. */
void peer_of_address(struct peer *ret_peer, const struct sockaddr_storage *address);
/* Which user has that end. Asks the kernel once for each connection. -ENOENT: none of this host, or
 * none any longer. */
int peer_user(struct peer *peer, uint32_t *ret_uid);
/* Whose share of connections it takes: that of a user of this host, in the form of an address that
 * nobody has; of who comes by the loopback and cannot be told, that of all such; else that of
 * peer_client(). False: root's, who may have all. Asks the kernel once for each connection. */
bool peer_account(struct peer *peer, struct in6_addr *ret_account);
/* Of such a share: that of a user of this host, or of those who cannot be told. */
bool peer_account_is_user(const struct in6_addr *account);
/* What counts as one client: an IPv4 address, or the 64 bits that an IPv6 network begins with. */
struct in6_addr peer_client(const struct peer *peer);
