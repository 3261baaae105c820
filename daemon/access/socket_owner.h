/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The user at the other end of a TCP connection that does not leave this host: asks the kernel for
 * the socket with exactly these addresses and ports (linux/inet_diag.h, sock_diag(7)), as any
 * process may within its network namespace. Does not block; any thread.
 */
#pragma once

#include <stdint.h>
#include <sys/socket.h>

/* User ids are those of profd's user namespace; users outside it appear as the overflow id, 65534.
 * -ENOENT: no process of this host and network namespace has that end (any longer). */
int socket_owner(const struct sockaddr_storage *ours, const struct sockaddr_storage *theirs,
                 uint32_t *ret_uid);
/* The same with at most two queries: does not find a socket that is bound to a device other than
 * lo. For use on every connection, where socket_owner() might query each of a thousand devices. */
int socket_owner_quick(const struct sockaddr_storage *ours, const struct sockaddr_storage *theirs,
                       uint32_t *ret_uid);
