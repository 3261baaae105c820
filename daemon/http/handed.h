/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sockets that the service manager has bound before it started profd (socket activation): from
 * descriptor 3 on, as $LISTEN_FDS says to the process that $LISTEN_PID names; sd_listen_fds(3).
 */
#pragma once

#include "http/listen.h"

/* Takes them over: `ret_listeners` is empty when there are none. A socket file stays who made it:
 * it is not unlinked. Forgets the variables. -EINVAL and -ENOTSOCK, with `ret_why`, when what was
 * handed over cannot be listened on; then the descriptors are left as they are. */
int handed_take(struct listeners *ret_listeners, char ret_why[256]);
