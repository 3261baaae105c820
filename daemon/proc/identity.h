/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a process belongs to, from the text of /proc/PID/cgroup.
 */
#pragma once

#include <stddef.h>

/* The systemd unit (the last *.service, *.scope or *.slice component of the path); "" when there is
 * none. */
void identity_unit(const char *cgroup_text, size_t len, char *unit, size_t unit_bytes);
