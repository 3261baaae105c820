/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The user at the other end of a connection, on real sockets. When the test runs as root, another
 * user makes the other end, and the kernel must name that user.
 */
#include "access/peer.h"

#include "access/socket_owner.h"
#include "base/cleanup.h"
#include "tests/unit/suites.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { SOMEBODY = 54321 };

/* A connection, and the socket that listened for it. */
struct pair {
	int listener, ours, theirs;
};

static void pair_release(struct pair *pair)
{
	closep(&pair->listener);
	closep(&pair->ours);
	closep(&pair->theirs);
}

static uid_t expected_user(void)
{
	return geteuid() ? geteuid() : SOMEBODY;
}

/* A socket belongs to the user that made it. */
static int socket_of_somebody(int family)
{
	uid_t before = geteuid();
	int fd;

	ck_assert_int_eq(seteuid(expected_user()), 0);
	fd = socket(family, SOCK_STREAM, 0);
	ck_assert_int_eq(seteuid(before), 0);
	ck_assert_int_ge(fd, 0);
	return fd;
}

static void bind_to(int fd, struct sockaddr_storage *address, socklen_t *len)
{
	ck_assert_int_eq(bind(fd, (struct sockaddr *)address, *len), 0);
	ck_assert_int_eq(listen(fd, 4), 0);
	*len = sizeof(*address);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)address, len), 0);
}

static struct sockaddr_storage address_of(int family, const char *text, in_port_t port)
{
	struct sockaddr_storage address = {.ss_family = (sa_family_t)family};
	struct sockaddr_in *v4 = (void *)&address;
	struct sockaddr_in6 *v6 = (void *)&address;

	if (family == AF_INET) {
		v4->sin_port = port;
		ck_assert_int_eq(inet_pton(family, text, &v4->sin_addr), 1);
	} else {
		v6->sin6_port = port;
		ck_assert_int_eq(inet_pton(family, text, &v6->sin6_addr), 1);
	}
	return address;
}

static const struct {
	int listen_family;
	const char *listen_address;
	int family;
	const char *address;
} ways[] = {
	{AF_INET, "127.0.0.1", AF_INET, "127.0.0.1"},
	{AF_INET6, "::1", AF_INET6, "::1"},
	/* A socket for both families shows IPv4 addresses as IPv6; so may a client's socket. */
	{AF_INET6, "::", AF_INET, "127.0.0.1"},
	{AF_INET6, "::", AF_INET6, "::ffff:127.0.0.1"},
	{AF_INET, "127.0.0.1", AF_INET6, "::ffff:127.0.0.1"},
};

/* Binds to a port that no other connection has, not even a closed one; connect() might reuse
 * one. */
static void bind_alone(int fd, size_t way)
{
	struct sockaddr_storage from = address_of(ways[way].family, ways[way].address, 0);
	int yes = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&from, sizeof(from)), 0);
}

static struct pair connect_by(size_t way)
{
	struct sockaddr_storage bound =
		address_of(ways[way].listen_family, ways[way].listen_address, 0);
	struct pair pair = {.theirs = -1, .ours = -1};
	socklen_t len = sizeof(bound);
	int no = 0;

	pair.listener = socket(ways[way].listen_family, SOCK_STREAM, 0);
	if (ways[way].listen_family == AF_INET6)
		setsockopt(pair.listener, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
	bind_to(pair.listener, &bound, &len);
	bound = address_of(ways[way].family, ways[way].address,
	                   ((struct sockaddr_in *)(void *)&bound)->sin_port);
	pair.theirs = socket_of_somebody(ways[way].family);
	bind_alone(pair.theirs, way);
	ck_assert_int_eq(connect(pair.theirs, (struct sockaddr *)&bound, sizeof(bound)), 0);
	pair.ours = accept(pair.listener, NULL, NULL);
	ck_assert_int_ge(pair.ours, 0);
	return pair;
}

START_TEST(users_over_tcp)
{
	_cleanup_(pair_release) struct pair pair = connect_by((size_t)_i);
	struct peer peer;
	uint32_t uid = 0;

	peer_read(&peer, pair.ours);
	ck_assert_int_eq(peer.kind, PEER_LOOPBACK);
	ck_assert_int_eq(peer_user(&peer, &uid), 0);
	ck_assert_uint_eq(uid, expected_user());
}
END_TEST

START_TEST(a_user_who_only_listens_still)
{
	_cleanup_(pair_release) struct pair pair = connect_by(0);
	struct peer peer;
	uint32_t uid = 0;

	ck_assert_int_eq(shutdown(pair.theirs, SHUT_WR), 0);
	peer_read(&peer, pair.ours);
	ck_assert_int_eq(peer_user(&peer, &uid), 0);
	ck_assert_uint_eq(uid, expected_user());
}
END_TEST

/* The kernel reports root as the owner of a socket that no process holds. */
START_TEST(a_user_who_is_gone)
{
	_cleanup_(pair_release) struct pair pair = connect_by(0);
	struct peer peer;
	uint32_t uid = 0;

	closep(&pair.theirs);
	pair.theirs = -1;
	peer_read(&peer, pair.ours);
	ck_assert_int_eq(peer_user(&peer, &uid), -ENOENT);
}
END_TEST

/* Once a connection is over, the kernel answers with the owner of a socket that listens at that
 * address. */
START_TEST(who_listens_is_not_who_asked)
{
	_cleanup_(pair_release) struct pair pair = connect_by(0);
	_cleanup_close_ int other = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_storage ours = {0}, theirs = {0};
	struct linger at_once = {.l_onoff = 1};
	socklen_t len = sizeof(theirs);
	uint32_t uid = 0;

	ck_assert_int_eq(getpeername(pair.ours, (struct sockaddr *)&theirs, &len), 0);
	ck_assert_int_eq(getsockname(pair.ours, (struct sockaddr *)&ours, &len), 0);
	ck_assert_int_eq(socket_owner(&ours, &theirs, &uid), 0);
	/* Bound before the port is free, because another program could take the port then. */
	setsockopt(other, SOL_SOCKET, SO_REUSEADDR, &at_once.l_onoff, sizeof(int));
	ck_assert_int_eq(bind(other, (struct sockaddr *)&theirs, len), 0);
	setsockopt(pair.theirs, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	closep(&pair.theirs);
	pair.theirs = -1;
	ck_assert_int_eq(listen(other, 4), 0);
	ck_assert_int_eq(socket_owner(&ours, &theirs, &uid), -ENOENT);
}
END_TEST

START_TEST(unix_sockets)
{
	int fds[2];
	struct peer peer;
	uint32_t uid = 1;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	peer_read(&peer, fds[0]);
	ck_assert_int_eq(peer.kind, PEER_UNIX);
	ck_assert_int_eq(peer_user(&peer, &uid), 0);
	ck_assert_uint_eq(uid, geteuid());
	close(fds[0]);
	close(fds[1]);
}
END_TEST

/* A user of this host has one account, whatever the address; root has none. */
START_TEST(shares)
{
	_cleanup_(pair_release) struct pair first = connect_by(0), second = connect_by(1);
	struct in6_addr one, other;
	struct peer peer;
	uint32_t uid = 0;

	peer_read(&peer, first.ours);
	ck_assert(peer_account(&peer, &one));
	ck_assert(IN6_IS_ADDR_MULTICAST(&one));
	ck_assert_int_eq(peer_user(&peer, &uid), 0);
	ck_assert_uint_eq(uid, expected_user());
	peer_read(&peer, second.ours);
	ck_assert(peer_account(&peer, &other));
	ck_assert_mem_eq(&one, &other, sizeof(one));

	/* Peers whose user is unknown have one account in common, whatever their address, and the
	 * lookup may be repeated. */
	closep(&first.theirs);
	closep(&second.theirs);
	first.theirs = second.theirs = -1;
	peer_read(&peer, first.ours);
	ck_assert(peer_account(&peer, &one));
	ck_assert(!peer.looked_up);
	peer_read(&peer, second.ours);
	ck_assert(peer_account(&peer, &other));
	ck_assert(!peer.looked_up);
	ck_assert_mem_eq(&one, &other, sizeof(one));
	/* The account is not that of user 0. */
	ck_assert_mem_ne(&one, (&(struct in6_addr){.s6_addr = {0xff}}), sizeof(one));
}
END_TEST

/* The kernel finds a socket that is bound to a device under that device only. */
START_TEST(a_share_of_who_is_bound_to_a_device)
{
	struct sockaddr_storage bound = address_of(AF_INET, "127.0.0.1", 0);
	struct sockaddr_storage other = address_of(AF_INET, "127.7.7.7", 0);
	_cleanup_(pair_release) struct pair pair = {-1, -1, -1};
	socklen_t len = sizeof(bound);
	struct in6_addr account;
	struct peer peer;
	uint32_t uid = 0;

	pair.listener = socket(AF_INET, SOCK_STREAM, 0);
	bind_to(pair.listener, &bound, &len);
	pair.theirs = socket_of_somebody(AF_INET);
	ck_assert_int_eq(setsockopt(pair.theirs, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3), 0);
	ck_assert_int_eq(bind(pair.theirs, (struct sockaddr *)&other, sizeof(other)), 0);
	ck_assert_int_eq(connect(pair.theirs, (struct sockaddr *)&bound, sizeof(bound)), 0);
	pair.ours = accept(pair.listener, NULL, NULL);
	peer_read(&peer, pair.ours);
	ck_assert(peer_account(&peer, &account));
	ck_assert(peer.looked_up);
	ck_assert_int_eq(peer_user(&peer, &uid), 0);
	ck_assert_uint_eq(uid, expected_user());
}
END_TEST

START_TEST(root_has_all)
{
	struct in6_addr account;
	struct peer peer;
	int fds[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	peer_read(&peer, fds[0]);
	ck_assert(peer_account(&peer, &account) == (geteuid() != 0));
	close(fds[0]);
	close(fds[1]);
}
END_TEST

static const struct {
	int family;
	const char *address;
	enum peer_kind kind;
	const char *client; /* the address that counts as the client */
} addresses[] = {
	{AF_INET, "127.0.0.1", PEER_LOOPBACK, "::ffff:127.0.0.1"},
	{AF_INET, "127.8.9.1", PEER_LOOPBACK, "::ffff:127.8.9.1"},
	{AF_INET6, "::1", PEER_LOOPBACK, "::"},
	{AF_INET6, "::ffff:127.0.0.1", PEER_LOOPBACK, "::ffff:127.0.0.1"},
	{AF_INET, "192.0.2.1", PEER_ELSEWHERE, "::ffff:192.0.2.1"},
	{AF_INET6, "::ffff:192.0.2.1", PEER_ELSEWHERE, "::ffff:192.0.2.1"},
	{AF_INET6, "fd00:1:2:3:4:5:6:7", PEER_ELSEWHERE, "fd00:1:2:3::"},
	{AF_INET6, "::127.0.0.1", PEER_ELSEWHERE, "::"},
	{AF_INET6, "::", PEER_ELSEWHERE, "::"},
};

START_TEST(kinds_of_addresses)
{
	struct sockaddr_storage address =
		address_of(addresses[_i].family, addresses[_i].address, 1);
	struct in6_addr client, expected;
	struct peer peer;

	peer_of_address(&peer, &address);
	ck_assert_msg(peer.kind == addresses[_i].kind, "%s", addresses[_i].address);
	ck_assert_int_eq(inet_pton(AF_INET6, addresses[_i].client, &expected), 1);
	client = peer_client(&peer);
	ck_assert_mem_eq(&client, &expected, sizeof(client));
}
END_TEST

START_TEST(no_socket)
{
	struct peer peer;
	uint32_t uid = 0;

	peer_read(&peer, -1);
	ck_assert_int_eq(peer.kind, PEER_ELSEWHERE);
	ck_assert_int_eq(peer_user(&peer, &uid), -EBADF);
}
END_TEST

Suite *peer_suite(void)
{
	Suite *suite = suite_create("peer");
	TCase *tests = tcase_create("peer");

	tcase_add_test(tests, shares);
	tcase_add_test(tests, a_share_of_who_is_bound_to_a_device);
	tcase_add_test(tests, root_has_all);
	tcase_add_loop_test(tests, users_over_tcp, 0, sizeof(ways) / sizeof(ways[0]));
	tcase_add_test(tests, a_user_who_only_listens_still);
	tcase_add_test(tests, a_user_who_is_gone);
	tcase_add_test(tests, who_listens_is_not_who_asked);
	tcase_add_test(tests, unix_sockets);
	tcase_add_loop_test(tests, kinds_of_addresses, 0, sizeof(addresses) / sizeof(addresses[0]));
	tcase_add_test(tests, no_socket);
	suite_add_tcase(suite, tests);
	return suite;
}
