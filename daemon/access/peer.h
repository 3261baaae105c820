/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct peer - the other end of a connection: a process of this host, over a unix socket or the
 * loopback, or another host. Read once for each connection; loop thread only.
 */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

enum peer_kind {
	PEER_UNIX,
	PEER_LOOPBACK, /* 127.0.0.0/8 and ::1, which the kernel accepts from this host only */
	PEER_ELSEWHERE,
};

struct peer {
	enum peer_kind kind;
	struct in6_addr address; /* IPv4 as IPv6; all zero for a unix socket */
	int fd;         /* of the connection, which stays open as long as the peer exists */
	bool looked_up; /* the user was looked up */
	int error;      /* of the lookup; -ENOENT: no user of this host */
	uint32_t uid;
};

/* A peer whose address cannot be read counts as PEER_ELSEWHERE. */
void peer_read(struct peer *ret_peer, int fd);
/* The same for an address as getpeername() returns it. Pure. */
void peer_of_address(struct peer *ret_peer, const struct sockaddr_storage *address);
/* The user at the other end. Asks the kernel once for each connection. -ENOENT: no user of this
 * host, or none any longer. */
int peer_user(struct peer *peer, uint32_t *ret_uid);
/* The account whose share of connections the peer takes, in the form of an address: for a user of
 * this host, an address that no host has; for loopback peers whose user cannot be determined, one
 * account for all of them; else peer_client(). False: root, which has no share. Asks the kernel
 * once for each connection. */
bool peer_account(struct peer *peer, struct in6_addr *ret_account);
/* Whether the account is that of a user of this host, or that of loopback peers without a known
 * user. */
bool peer_account_is_user(const struct in6_addr *account);
/* The address that counts as one client: an IPv4 address, or the first 64 bits of an IPv6 address.
 */
struct in6_addr peer_client(const struct peer *peer);
