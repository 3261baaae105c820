/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The parent of a process, from /proc/PID/stat: the process that started it, or the process that it
 * was reparented to since. No state; any thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The parent's pid in the text of a stat file; 0 when the text has none or the process has no
 * parent. */
uint32_t parent_parse(const char *bytes, size_t len);
uint32_t parent_read(uint32_t pid); /* 0 when the process is gone */
