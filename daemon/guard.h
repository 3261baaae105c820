/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The access rules of the settings, if they suffice for the addresses that profd listens on:
 * addresses that other hosts can reach must be guarded, unless --insecure is given.
 */
#pragma once

#include "access/access.h"
#include "config.h"
#include "http/listen.h"

/* -EBADMSG or -ENOMEM with `why`, one line for a person. */
int guard_open(const struct config *config, struct access **ret_access, char ret_why[256]);
/* Whether the rules suffice for one address, such as that of a socket that the service manager
 * bound. 0, or -EBADMSG with `why`. */
int guard_address(const struct config *config, const struct access *access, const char *text,
                  char ret_why[256]);
/* Reads all rules again. Logs the outcome; a mistake changes nothing. */
void guard_reload(const struct config *config, const struct listeners *bound,
                  struct access *access);
