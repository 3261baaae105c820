/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sockets that the service manager bound before it started profd (socket activation): descriptors
 * from 3 on, as many as $LISTEN_FDS says, for the process that $LISTEN_PID names; see
 * sd_listen_fds(3).
 */
#pragma once

#include "http/listen.h"

/* Takes ownership of the sockets; `ret_listeners` is empty when there are none. A socket file
 * belongs to the service manager and is not unlinked. Removes the environment variables. -EINVAL
 * and -ENOTSOCK, with `ret_why`, when a descriptor cannot be listened on; the descriptors then stay
 * open. */
int handed_take(struct listeners *ret_listeners, char ret_why[256]);
