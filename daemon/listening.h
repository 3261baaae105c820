/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Where the daemon listens: on what the service manager has handed over, else where the settings
 * say, if the rules of access are enough for that; and how a person is told.
 */
#pragma once

#include "access/access.h"
#include "config.h"
#include "http/listen.h"

enum { NEXT_STEP_BYTES = 512 };

/* `ret_listeners` is for listeners_release() also after a failure. A negative errno with
 * `ret_why`, one line for a person; -EBADMSG: the rules of access are not enough. */
int listening_open(const struct config *config, const struct access *access,
                   struct listeners *ret_listeners, char ret_why[256]);
/* Logs all their names, and the command line below for the first one. */
void listening_log(const struct listeners *listeners, const struct config *config,
                   const struct access *access);
/* What to type for a first profile. Pure. */
void listening_next_step(const struct listener *listener, const struct access *access,
                         char ret_line[NEXT_STEP_BYTES]);
