/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The sockets that the daemon listens on: those that the service manager has handed over, else
 * those of the settings, if the access rules suffice for them; and the messages about them.
 */
#pragma once

#include "access/access.h"
#include "config.h"
#include "http/listen.h"

enum { NEXT_STEP_BYTES = 512 };

/* The caller passes `ret_listeners` to listeners_release(), on failure too. A negative errno with
 * `ret_why`, one line for a person; -EBADMSG: the access rules do not suffice. */
int listening_open(const struct config *config, const struct access *access,
                   struct listeners *ret_listeners, char ret_why[256]);
/* Logs the names of all sockets, and the command line below for the first one. */
void listening_log(const struct listeners *listeners, const struct config *config,
                   const struct access *access);
/* The command line for a first profile. Pure. */
void listening_next_step(const struct listener *listener, const struct access *access,
                         char ret_line[NEXT_STEP_BYTES]);
