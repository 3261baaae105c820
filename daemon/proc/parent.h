/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which process another one is a child of, as /proc/PID/stat says: who started it, or who took it
 * over since. No state; any thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The parent's pid in the text of a stat file; 0 when it is not there, or is nobody's. */
uint32_t parent_parse(const char *bytes, size_t len);
uint32_t parent_read(uint32_t pid); /* 0 when the process is gone */
