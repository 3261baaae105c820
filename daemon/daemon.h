/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The daemon: every part built once, handed to the parts that need it, and taken down in reverse.
 */
#pragma once

#include "access/access.h"
#include "config.h"

/* Reads the settings and the rules of access again on SIGHUP. Runs until SIGTERM or SIGINT. The
 * process's exit status; why it failed has been logged. */
int daemon_run(struct config *config, struct access *access);
