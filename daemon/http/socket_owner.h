/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Who has the other end of a TCP connection that does not leave this host: the kernel is asked for
 * the socket of exactly these addresses and ports (linux/inet_diag.h, sock_diag(7)), which any
 * process may ask within its network namespace. Answers at once; any thread.
 */
#pragma once

#include <stdint.h>
#include <sys/socket.h>

/* A user by the number of our own user namespace; of others' the overflow one, 65534. -ENOENT: no
 * process of this host and network namespace has that end, or not any longer. */
int socket_owner(const struct sockaddr_storage *ours, const struct sockaddr_storage *theirs,
                 uint32_t *ret_uid);
/* The same with two questions to the kernel: a socket that is bound to a device other than lo is
 * not found. For every connection, where socket_owner() would ask about each of a thousand devices.
 */
int socket_owner_quick(const struct sockaddr_storage *ours, const struct sockaddr_storage *theirs,
                       uint32_t *ret_uid);
