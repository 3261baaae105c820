/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Side-band records as bytes: the part of collect/sideband.c that needs no kernel.
 */
#pragma once

#include "proc/proc.h"

#include <stddef.h>
#include <stdint.h>

/* When a record was written; 0 when it is too short to say. Every record of ours ends with its
 * time. */
uint64_t record_time(const void *record, size_t len);
/* Tells the process table what one record says. How many records the kernel says it lost; 0 for all
 * others, and for records that are too short or of an unknown type. */
uint64_t record_apply(const void *record, size_t len, struct procs *procs);
