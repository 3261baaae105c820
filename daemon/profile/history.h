/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct history - the recent past of every kind of profile. Each kind has a recorder with its
 * share of the memory, so that a storm of one kind drops nothing of another kind's past. Loop
 * thread only.
 */
#pragma once

#include "base/clock.h"
#include "profile/recorder.h"

/* Slices are merged into windows of this length. */
#define HISTORY_WINDOW_NS (10 * NSEC_PER_SEC)

struct history;

/* `limits` are for all kinds together. `shares` are the kinds' shares of the memory, in parts of
 * `share_sum`. NULL when out of memory. */
struct history *history_new(const struct recorder_limits *limits, const uint32_t *shares,
                            size_t kind_count, uint32_t share_sum);
void history_free(struct history *history);

struct recorder *history_recorder(const struct history *history, size_t kind);
size_t history_max_bytes(const struct history *history, size_t kind);
/* Changes the memory for all kinds together. The oldest of what no longer fits is dropped. */
void history_resize(struct history *history, size_t max_bytes);
/* Takes over the references to one slice of each kind; NULL where there is none. 0, or the first
 * error. */
int history_add(struct history *history, struct profile *const *slices);
