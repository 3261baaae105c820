/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Attaches the programs of heap profiles to the places of a plan. On a lane.
 */
#pragma once

#include "heap/heap_plan.h"
#include "kernel/heap_kernel.h"

/* Attaches the program that only counts, at every entry. */
int heap_links_count(struct uprobes *links, const struct heap_programs *programs,
                     const struct heap_plan *plan, uint32_t pid);
/* Attaches the programs that sample. */
int heap_links_sample(struct uprobes *links, const struct heap_programs *programs,
                      const struct heap_plan *plan, uint32_t pid, bool have_sessions);
