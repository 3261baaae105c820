/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Attaching the programs of heap profiles to the places of a plan. On a lane.
 */
#pragma once

#include "collect/heap_kernel.h"
#include "collect/heap_plan.h"

/* The program that only counts, at every entry. */
int heap_links_count(struct uprobes *links, const struct heap_programs *programs,
                     const struct heap_plan *plan, uint32_t pid);
/* Those that sample. */
int heap_links_sample(struct uprobes *links, const struct heap_programs *programs,
                      const struct heap_plan *plan, uint32_t pid, bool have_sessions);
