/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One recorder per kind.
 */
#include "profile/history.h"

#include <assert.h>

struct history {
	size_t count;
	uint32_t share_sum;
	struct {
		struct recorder *recorder;
		size_t max_bytes;
		uint32_t share;
	} kinds[];
};

struct history *history_new(const struct recorder_limits *limits, const uint32_t *shares,
                            size_t kind_count, uint32_t share_sum)
{
	struct history *history =
		calloc(1, sizeof(*history) + kind_count * sizeof(history->kinds[0]));

	if (history)
		history->share_sum = share_sum;
	for (size_t kind = 0; history && kind < kind_count; kind++) {
		struct recorder_limits own = *limits;

		own.max_bytes = limits->max_bytes / share_sum * shares[kind];
		history->kinds[kind].max_bytes = own.max_bytes;
		history->kinds[kind].share = shares[kind];
		history->kinds[kind].recorder = recorder_new(&own);
		history->count++;
		if (!history->kinds[kind].recorder) {
			history_free(history);
			return NULL;
		}
	}
	return history;
}

void history_free(struct history *history)
{
	if (!history)
		return;
	for (size_t kind = 0; kind < history->count; kind++)
		recorder_free(history->kinds[kind].recorder);
	free(history);
}

struct recorder *history_recorder(const struct history *history, size_t kind)
{
	assert(kind < history->count);
	return history->kinds[kind].recorder;
}

size_t history_max_bytes(const struct history *history, size_t kind)
{
	assert(kind < history->count);
	return history->kinds[kind].max_bytes;
}

void history_resize(struct history *history, size_t max_bytes)
{
	for (size_t kind = 0; kind < history->count; kind++) {
		size_t own = max_bytes / history->share_sum * history->kinds[kind].share;

		history->kinds[kind].max_bytes = own;
		recorder_resize(history->kinds[kind].recorder, own);
	}
}

int history_add(struct history *history, struct profile *const *slices)
{
	int first_err = 0;

	for (size_t kind = 0; kind < history->count; kind++) {
		int err = slices[kind] ? recorder_add(history->kinds[kind].recorder, slices[kind])
		                       : 0;

		if (!first_err)
			first_err = err;
	}
	return first_err;
}
