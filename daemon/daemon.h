/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The daemon: builds every part once, passes it to the parts that need it, and takes the parts down
 * in reverse order.
 */
#pragma once

#include "access/access.h"
#include "config.h"

/* Runs until SIGTERM or SIGINT; reads the settings and the access rules again on SIGHUP. Returns
 * the process's exit status; the reason for a failure has been logged. */
int daemon_run(struct config *config, struct access *access);
