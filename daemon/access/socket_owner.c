/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One query and one answer over netlink.
 */
#include "access/socket_owner.h"

#include "base/cleanup.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <string.h>

/* Enough devices for a host of containers; with more the user cannot be determined. */
enum { MAX_DEVICES = 1024, MAX_ANSWER_BYTES = 4096 };
/* The index of lo, the first device of every network namespace. */
enum { LOOPBACK_INDEX = 1 };

struct question {
	struct nlmsghdr head;
	struct inet_diag_req_v2 ask;
};

/* Converts an address to sock_diag's form: IPv4 in the first of four words, even when a socket of
 * both families shows it as IPv6, because the kernel has one table of connections for both. */
static int read_address(const struct sockaddr_storage *from, uint8_t *ret_family, __be16 *ret_port,
                        __be32 address[4])
{
	const struct sockaddr_in *v4 = (const void *)from;
	const struct sockaddr_in6 *v6 = (const void *)from;

	memset(address, 0, 4 * sizeof(*address));
	*ret_family = AF_INET;
	switch (from->ss_family) {
	case AF_INET:
		address[0] = v4->sin_addr.s_addr;
		*ret_port = v4->sin_port;
		return 0;
	case AF_INET6:
		*ret_port = v6->sin6_port;
		if (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr)) {
			memcpy(address, &v6->sin6_addr.s6_addr[12], sizeof(*address));
			return 0;
		}
		*ret_family = AF_INET6;
		memcpy(address, &v6->sin6_addr, 4 * sizeof(*address));
		return 0;
	default:
		return -EAFNOSUPPORT;
	}
}

static int ask(int fd, const struct question *question, void *answer, size_t size)
{
	const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	ssize_t len = sendto(fd, question, sizeof(*question), 0, (const struct sockaddr *)&kernel,
	                     sizeof(kernel));

	/* The kernel has answered when sendto() returns. */
	if (len >= 0)
		len = recv(fd, answer, size, MSG_DONTWAIT);
	return len < 0 ? -errno : (int)len;
}

/* When there is no such connection the kernel may answer with a listening socket; a socket that no
 * process holds any longer has no inode, and user 0 whatever its user was. */
static bool is_held(const struct inet_diag_msg *found, const struct question *question)
{
	return found->idiag_inode && found->id.idiag_dport == question->ask.id.idiag_dport &&
	       (found->idiag_state == TCP_ESTABLISHED || found->idiag_state == TCP_FIN_WAIT1 ||
	        found->idiag_state == TCP_FIN_WAIT2 || found->idiag_state == TCP_CLOSE_WAIT);
}

static int read_answer(const void *answer, size_t len, const struct question *question,
                       uint32_t *ret_uid)
{
	const struct nlmsghdr *head = answer;
	const struct nlmsgerr *error;
	const struct inet_diag_msg *found;
	const void *body;

	if (len < sizeof(*head) || head->nlmsg_len > len)
		return -EPROTO;
	body = (const char *)answer + NLMSG_HDRLEN;
	if (head->nlmsg_type == NLMSG_ERROR && head->nlmsg_len >= NLMSG_LENGTH(sizeof(*error))) {
		error = body;
		return error->error < 0 ? error->error : -EPROTO;
	}
	if (head->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
	    head->nlmsg_len < NLMSG_LENGTH(sizeof(*found)))
		return -EPROTO;
	found = body;
	if (!is_held(found, question))
		return -ENOENT;
	*ret_uid = found->idiag_uid;
	return 0;
}

static void free_names(struct if_nameindex **names)
{
	if (*names)
		if_freenameindex(*names);
}

/* A socket that is bound to a device, as those with link-local addresses are, is found only under
 * that device. */
static int ask_device(int fd, struct question *question, unsigned int device, uint32_t *ret_uid)
{
	_Alignas(struct nlmsghdr) char answer[MAX_ANSWER_BYTES];
	int len;

	question->ask.id.idiag_if = device;
	len = ask(fd, question, answer, sizeof(answer));
	return len < 0 ? len : read_answer(answer, (size_t)len, question, ret_uid);
}

static int ask_each_device(int fd, struct question *question, uint32_t *ret_uid)
{
	_cleanup_(free_names) struct if_nameindex *devices = if_nameindex();
	int err = devices ? -ENOENT : -errno;

	for (size_t i = 0; err == -ENOENT && devices[i].if_index; i++) {
		if (i >= MAX_DEVICES)
			return -E2BIG;
		err = ask_device(fd, question, devices[i].if_index, ret_uid);
	}
	return err;
}

static int find(const struct sockaddr_storage *ours, const struct sockaddr_storage *theirs,
                bool each_device, uint32_t *ret_uid)
{
	struct question question = {
		.head = {.nlmsg_len = sizeof(question),
	                 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
	                 .nlmsg_flags = NLM_F_REQUEST},
		.ask = {.sdiag_protocol = IPPROTO_TCP, .idiag_states = UINT32_MAX},
	};
	struct inet_diag_sockid *id = &question.ask.id;
	_cleanup_close_ int fd = -1;
	uint8_t family;
	int err;

	err = read_address(theirs, &question.ask.sdiag_family, &id->idiag_sport, id->idiag_src);
	if (!err)
		err = read_address(ours, &family, &id->idiag_dport, id->idiag_dst);
	if (err)
		return err;
	if (family != question.ask.sdiag_family)
		return -EAFNOSUPPORT;
	id->idiag_cookie[0] = id->idiag_cookie[1] = INET_DIAG_NOCOOKIE;
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (fd < 0)
		return -errno;
	err = ask_device(fd, &question, 0, ret_uid);
	if (err != -ENOENT)
		return err;
	return each_device ? ask_each_device(fd, &question, ret_uid)
	                   : ask_device(fd, &question, LOOPBACK_INDEX, ret_uid);
}

int socket_owner(const struct sockaddr_storage *ours, const struct sockaddr_storage *theirs,
                 uint32_t *ret_uid)
{
	return find(ours, theirs, true, ret_uid);
}

int socket_owner_quick(const struct sockaddr_storage *ours, const struct sockaddr_storage *theirs,
                       uint32_t *ret_uid)
{
	return find(ours, theirs, false, ret_uid);
}
