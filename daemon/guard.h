/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The rules of access that the settings ask for, if they are enough for where profd listens: what
 * other hosts reach is guarded, or somebody has said --insecure.
 */
#pragma once

#include "access/access.h"
#include "config.h"
#include "http/listen.h"

/* -EBADMSG or -ENOMEM with `why`, one line for a person. */
int guard_open(const struct config *config, struct access **ret_access, char ret_why[256]);
/* Whether it is enough for one address, such as that of a socket that somebody else has bound. 0,
 * or -EBADMSG with `why`. */
int guard_address(const struct config *config, const struct access *access, const char *text,
                  char ret_why[256]);
/* Reads all of it again. Logs what came of it; a mistake changes nothing. */
void guard_reload(const struct config *config, const struct listeners *bound,
                  struct access *access);
