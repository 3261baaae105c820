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
/* Adds a sample of the thread of the half's tally `at` that has only this last value: it is known
 * to have taken so much, and not where. */
void tallies_add_unseen(struct half *half, struct builder *into, size_t at, uint64_t value);
