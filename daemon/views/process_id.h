/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Whether a number from a request is that of a process. Any thread.
 */
#pragma once

#include <stdint.h>

/* The process to which the thread or process `id` belongs: `id` itself for a process; 0: there is
 * neither with that number. */
uint32_t process_of(uint32_t id);
