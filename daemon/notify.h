/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What systemd's Type=notify wants to hear: datagrams, without libsystemd. See sd_notify(3).
 */
#pragma once

#include <stdbool.h>

/* Whether somebody listens. */
bool notify_wanted(void);
/* Sends assignments, a line each ("READY=1"), to $NOTIFY_SOCKET. 0 also when nobody listens;
 * negative errno. */
int notify_send(const char *format, ...) __attribute__((format(printf, 1, 2)));
