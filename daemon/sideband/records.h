/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Side-band records as bytes: the part of sideband/sideband.c that needs no kernel.
 */
#pragma once

#include "proc/proc.h"

#include <stddef.h>
#include <stdint.h>

/* When a record was written; 0 if it is too short. Every record that profd asks for ends with its
 * time. */
uint64_t record_time(const void *record, size_t len);
/* Applies one record to the process table. Returns how many records the kernel says it lost; 0 for
 * all other records, and for those that are too short or of an unknown type. */
uint64_t record_apply(const void *record, size_t len, struct procs *procs);
