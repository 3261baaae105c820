/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Finds the peer of a connection's socket.
 */
#include "access/peer.h"

#include "access/socket_owner.h"
#include "base/accounts.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

static bool is_loopback(const struct in6_addr *address)
{
	return IN6_IS_ADDR_LOOPBACK(address) ||
	       (IN6_IS_ADDR_V4MAPPED(address) && address->s6_addr[12] == 127);
}

void peer_of_address(struct peer *ret_peer, const struct sockaddr_storage *address)
{
	const struct sockaddr_in *v4 = (const void *)address;
	const struct sockaddr_in6 *v6 = (const void *)address;
	struct in6_addr *to = &ret_peer->address;

	*ret_peer = (struct peer){.kind = PEER_ELSEWHERE, .fd = -1};
	if (address->ss_family == AF_UNIX) {
		ret_peer->kind = PEER_UNIX;
	} else if (address->ss_family == AF_INET) {
		to->s6_addr[10] = to->s6_addr[11] = 0xff;
		memcpy(&to->s6_addr[12], &v4->sin_addr, sizeof(v4->sin_addr));
	} else if (address->ss_family == AF_INET6) {
		*to = v6->sin6_addr;
	}
	if (is_loopback(to))
		ret_peer->kind = PEER_LOOPBACK;
}

void peer_read(struct peer *ret_peer, int fd)
{
	struct sockaddr_storage address = {0};
	socklen_t len = sizeof(address);

	/* The address of an unnamed unix socket has two bytes, which hold the family. */
	if (getpeername(fd, (struct sockaddr *)&address, &len) < 0)
		address.ss_family = AF_UNSPEC;
	peer_of_address(ret_peer, &address);
	ret_peer->fd = fd;
}

typedef int owner_fn(const struct sockaddr_storage *ours, const struct sockaddr_storage *theirs,
                     uint32_t *ret_uid);

static int ask_kernel(const struct peer *peer, owner_fn *owner, uint32_t *ret_uid)
{
	struct sockaddr_storage ours = {0}, theirs = {0};
	socklen_t ours_len = sizeof(ours), theirs_len = sizeof(theirs);
	struct ucred user;
	socklen_t user_len = sizeof(user);

	if (peer->kind == PEER_UNIX) {
		if (getsockopt(peer->fd, SOL_SOCKET, SO_PEERCRED, &user, &user_len) < 0)
			return -errno;
		*ret_uid = user.uid;
		return 0;
	}
	if (getsockname(peer->fd, (struct sockaddr *)&ours, &ours_len) < 0 ||
	    getpeername(peer->fd, (struct sockaddr *)&theirs, &theirs_len) < 0)
		return -errno;
	return owner(&ours, &theirs, ret_uid);
}

int peer_user(struct peer *peer, uint32_t *ret_uid)
{
	if (!peer->looked_up) {
		peer->error = ask_kernel(peer, socket_owner, &peer->uid);
		/* A temporary error, such as lack of memory, need not recur at the next call. */
		peer->looked_up = !peer->error || peer->error == -ENOENT;
	}
	*ret_uid = peer->uid;
	return peer->error;
}

/* Whether the peer may be on this host. A user of another host has no socket here, so there is no
 * reason to ask the kernel. */
static bool is_here(const struct peer *peer)
{
	struct sockaddr_storage ours = {0};
	socklen_t len = sizeof(ours);
	struct peer self;

	if (peer->kind != PEER_ELSEWHERE)
		return true;
	if (getsockname(peer->fd, (struct sockaddr *)&ours, &len) < 0)
		return false;
	peer_of_address(&self, &ours);
	return IN6_ARE_ADDR_EQUAL(&self.address, &peer->address);
}

/* ff00::/8 are multicast addresses, which no connection comes from. */
static const struct in6_addr users = {.s6_addr = {0xff}};
/* One account for all: a client that hides its user could use any address of 127.0.0.0/8. */
static const struct in6_addr untold = {.s6_addr = {0xff, 1}};

bool peer_account(struct peer *peer, struct in6_addr *ret_account)
{
	if (!peer->looked_up && is_here(peer) &&
	    !ask_kernel(peer, socket_owner_quick, &peer->uid)) {
		peer->error = 0;
		peer->looked_up = true;
	}
	if (!peer->looked_up || peer->error) {
		*ret_account = peer->kind == PEER_LOOPBACK ? untold : peer_client(peer);
		return true;
	}
	uint32_t account = account_of(peer->uid);

	*ret_account = users;
	memcpy(&ret_account->s6_addr[12], &account, sizeof(account));
	return peer->uid != 0;
}

bool peer_account_is_user(const struct in6_addr *account)
{
	return IN6_IS_ADDR_MULTICAST(account);
}

struct in6_addr peer_client(const struct peer *peer)
{
	struct in6_addr client = peer->address;

	if (!IN6_IS_ADDR_V4MAPPED(&client))
		memset(&client.s6_addr[8], 0, 8);
	return client;
}
