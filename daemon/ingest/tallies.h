/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Samples of the kinds that the kernel half counts in tallies, by process, thread and stack. Loop
 * thread only.
 */
#pragma once

#include "ingest/source.h"

/* For source.fill. */
int tallies_fill(struct half *half, struct source_state *state, struct builder *into,
                 uint64_t *ret_samples);
