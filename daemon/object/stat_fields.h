/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The fields of /proc/PID/stat, counted as proc_pid_stat(5) does. Pure.
 */
#pragma once

#include "base/text.h"

enum stat_field {
	STAT_STATE = 3, /* the first one behind the name */
	STAT_PARENT = 4,
	STAT_START = 22,  /* in clock ticks, by CLOCK_BOOTTIME */
	STAT_MEMORY = 23, /* bytes of address space; 0: the process has none */
};

/* The number in a field; false if the text has none there. */
bool stat_number(const char *bytes, size_t len, enum stat_field field, uint64_t *ret_number);
