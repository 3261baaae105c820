/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Whether a number that somebody gave as a process is one. Any thread.
 */
#pragma once

#include <stdint.h>

/* The process that the thread or process `id` belongs to, which is itself if it is a process; 0:
 * there is none of that number. */
uint32_t process_of(uint32_t id);
