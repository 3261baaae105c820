/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What systemd's Type=notify wants to hear: one datagram, without libsystemd.
 */
#pragma once

/* Sends `state` ("READY=1") to $NOTIFY_SOCKET. 0 also when nobody listens; negative errno. */
int notify_send(const char *state);
