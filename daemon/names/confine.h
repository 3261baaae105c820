/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Giving up, for good, all that the names process does not need: other descriptors, user, groups,
 * capabilities, memory without end.
 */
#pragma once

#include <stdint.h>

/* Leaves `socket`, standard error and what standard input and output are. `max_bytes` is the memory
 * the process may hold more than it does now. 0, or why something could not be given up: then do
 * not go on. */
int confine(int socket, uint64_t max_bytes);
