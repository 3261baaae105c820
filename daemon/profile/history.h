/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct history - the recent past of every kind of profile: one recorder a kind, each with its
 * share of the memory, so that a storm of one kind drops none of another's past. Loop thread only.
 */
#pragma once

#include "profile/recorder.h"

struct history;

/* `limits` are of all kinds together; `shares` are how the memory is divided, in parts of
 * `share_sum`, by kind. NULL when out of memory. */
struct history *history_new(const struct recorder_limits *limits, const uint32_t *shares,
                            size_t kind_count, uint32_t share_sum);
void history_free(struct history *history);

struct recorder *history_recorder(const struct history *history, size_t kind);
size_t history_max_bytes(const struct history *history, size_t kind);
/* Divides this much memory from now on; the oldest of what no longer fits is dropped. */
void history_resize(struct history *history, size_t max_bytes);
/* Takes over a slice of each kind, NULL where there is none. 0, or the first error. */
int history_add(struct history *history, struct profile *const *slices);
