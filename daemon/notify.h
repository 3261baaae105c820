/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Messages for systemd's Type=notify, sent as datagrams without libsystemd. See sd_notify(3).
 */
#pragma once

#include <stdbool.h>

/* Whether the service manager wants messages. */
bool notify_wanted(void);
/* Sends assignments, one per line ("READY=1"), to $NOTIFY_SOCKET. 0, also when the service manager
 * wants no messages; or a negative errno. */
int notify_send(const char *format, ...) __attribute__((format(printf, 1, 2)));
