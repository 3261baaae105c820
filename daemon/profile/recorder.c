/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Slices are in one array, in order of time. There are some hundreds of them, because a merge
 * replaces those of a window by one. So everything here walks the array, and memmove closes the
 * gaps.
 */
#include "profile/recorder.h"

#include "base/shares.h"
#include "profile/fold.h"
#include "profile/select.h"
#include "profile/sum.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

struct kept {
	struct profile *profile;
	struct weights weights;
};

struct recorder {
	struct recorder_limits limits;
	struct kept *slices;
	size_t count, capacity;
	uint64_t *holds; /* one entry per holder, in no order */
	size_t hold_count, hold_capacity;
	uint64_t evicted_window; /* the last window that was counted as evicted, plus 1 */
	struct recorder_stats stats;
};

static uint64_t slice_end(const struct profile *slice)
{
	return slice->start_mono_ns + slice->duration_ns;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* A slice belongs to the window it starts in. */
static uint64_t slice_window(const struct recorder *recorder, const struct profile *slice)
{
	return slice->start_mono_ns / recorder->limits.window_ns;
}

/* The array, with room for one more item; NULL when out of memory, and the old array is then still
 * valid. */
static void *grown(void *array, size_t *capacity, size_t count, size_t item_bytes)
{
	size_t wanted = *capacity ? *capacity * 2 : 16;

	if (count < *capacity)
		return array;
	array = reallocarray(array, wanted, item_bytes);
	if (array)
		*capacity = wanted;
	return array;
}

struct recorder *recorder_new(const struct recorder_limits *limits)
{
	struct recorder *recorder = calloc(1, sizeof(*recorder));

	assert(limits->window_ns);
	if (recorder)
		recorder->limits = *limits;
	return recorder;
}

/* Drops slices [from, to). */
static void drop(struct recorder *recorder, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		recorder->stats.bytes -= recorder->slices[i].profile->memory_bytes;
		profile_unref(recorder->slices[i].profile);
		weights_release(&recorder->slices[i].weights);
	}
	if (to > from)
		memmove(&recorder->slices[from], &recorder->slices[to],
		        (recorder->count - to) * sizeof(*recorder->slices));
	recorder->count -= to - from;
}

void recorder_free(struct recorder *recorder)
{
	if (!recorder)
		return;
	drop(recorder, 0, recorder->count);
	free(recorder->slices);
	free(recorder->holds);
	free(recorder);
}

static bool held(const struct recorder *recorder, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < recorder->hold_count; i++)
		if (recorder->holds[i] > from && recorder->holds[i] < to)
			return true;
	return false;
}

/* The end of the window that slice `from` is in, as an index of slices. */
static size_t window_end(const struct recorder *recorder, size_t from)
{
	uint64_t window = slice_window(recorder, recorder->slices[from].profile);
	size_t to = from;

	while (to < recorder->count &&
	       slice_window(recorder, recorder->slices[to].profile) == window)
		to++;
	return to;
}

static int merge_slices(const struct recorder *recorder, size_t from, size_t to,
                        struct builder *into)
{
	_cleanup_free_ struct profile **slices = calloc(to - from, sizeof(*slices));

	if (!slices)
		return -ENOMEM;
	for (size_t i = from; i < to; i++)
		slices[i - from] = recorder->slices[i].profile;
	return select_merge(into, slices, to - from, &select_all);
}

/* Replaces slices [from, to) by one slice. If that fails they stay as they are, which only takes
 * more memory. */
static void merge(struct recorder *recorder, size_t from, size_t to)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	struct kept *kept = &recorder->slices[from];
	struct profile *merged;

	if (!builder || merge_slices(recorder, from, to, builder) || builder_seal(builder, &merged))
		return;
	drop(recorder, from + 1, to);
	recorder->stats.bytes += merged->memory_bytes - kept->profile->memory_bytes;
	profile_unref(kept->profile);
	weights_release(&kept->weights);
	kept->profile = merged;
	weights_find(merged, &kept->weights);
}

/* The end of the slices that become one with slice `from`: those of its window, up to a boundary
 * that is held. */
static size_t run_end(const struct recorder *recorder, size_t from)
{
	uint64_t start = recorder->slices[from].profile->start_mono_ns;
	size_t end = window_end(recorder, from), to = from + 1;

	while (to < end && !held(recorder, start, slice_end(recorder->slices[to].profile)))
		to++;
	return to;
}

/* Merges slices of a window that has ended `fine_ns` ago, so that none of its slices are still to
 * come. One window at a time: that takes milliseconds, and there are many when a client has held
 * boundaries for long. */
static void merge_window(struct recorder *recorder)
{
	const uint64_t window_ns = recorder->limits.window_ns;
	uint64_t now = slice_end(recorder->slices[recorder->count - 1].profile);
	size_t to;

	now -= smaller(now, recorder->limits.fine_ns);
	for (size_t from = 0; from < recorder->count; from = to) {
		to = run_end(recorder, from);
		if (slice_window(recorder, recorder->slices[from].profile) >= now / window_ns)
			return;
		if (to - from > 1) {
			merge(recorder, from, to);
			return;
		}
	}
}

static void expire(struct recorder *recorder)
{
	uint64_t now = slice_end(recorder->slices[recorder->count - 1].profile);
	size_t old = 0;

	while (old < recorder->count &&
	       now - slice_end(recorder->slices[old].profile) > recorder->limits.keep_ns)
		old++;
	drop(recorder, 0, old);
}

/* By how much the slices exceed the limit. The newest slice counts for half of the limit at
 * most. */
static size_t excess(const struct recorder *recorder)
{
	size_t max = recorder->limits.max_bytes, bytes = recorder->stats.bytes, newest;

	if (!recorder->count)
		return 0;
	newest = recorder->slices[recorder->count - 1].profile->memory_bytes;
	if (newest > max / 2)
		bytes = bytes - newest + max / 2;
	return bytes > max ? bytes - max : 0;
}

/* Adds up what each account has of all slices but the newest. */
static void share_out(const struct recorder *recorder, struct shares *shares)
{
	for (size_t i = 0; i + 1 < recorder->count; i++)
		for (size_t j = 0; j < recorder->slices[i].weights.count; j++) {
			const struct weight *weight = &recorder->slices[i].weights.items[j];

			shares_add(shares, weight->account, weight->bytes);
		}
}

static void evict_oldest(struct recorder *recorder, struct shares *shares)
{
	const struct kept *kept = &recorder->slices[0];
	const struct profile *slice = kept->profile;
	uint64_t window = slice_window(recorder, slice) + 1;

	recorder->stats.windows_evicted += window != recorder->evicted_window;
	recorder->evicted_window = window;
	for (uint32_t i = 1; i < slice->sample_count; i++)
		sum_add(&recorder->stats.samples_evicted, slice->samples[i].values[0]);
	for (size_t i = 0; i < kept->weights.count; i++)
		shares_give(shares, kept->weights.items[i].account, kept->weights.items[i].bytes);
	drop(recorder, 0, 1);
}

static void fold_slice(struct recorder *recorder, struct kept *kept, uint32_t account,
                       struct shares *shares)
{
	struct weight *weight = weights_of(&kept->weights, account);
	size_t before = kept->profile->memory_bytes;

	shares_give(shares, account, weight->bytes);
	sum_add(&recorder->stats.stacks_evicted, fold(&kept->profile, account));
	recorder->stats.bytes += kept->profile->memory_bytes - before;
	weights_release(&kept->weights);
	weights_find(kept->profile, &kept->weights);
	weight = weights_of(&kept->weights, account);
	if (!weight)
		return;
	shares_add(shares, account, weight->bytes);
	weight->folded = true;
}

/* Folds the oldest slice of the account that has most. False if there is nothing to fold, or if
 * that account is root's. */
static bool fold_oldest(struct recorder *recorder, struct shares *shares)
{
	uint64_t owner;
	uint32_t account;

	if (!shares_largest(shares, &owner) || !owner)
		return false;
	account = (uint32_t)owner;
	for (size_t i = 0; i + 1 < recorder->count; i++) {
		struct weight *weight = weights_of(&recorder->slices[i].weights, account);

		if (weight && !weight->folded) {
			fold_slice(recorder, &recorder->slices[i], account, shares);
			return true;
		}
	}
	return false;
}

static void evict(struct recorder *recorder)
{
	_cleanup_(shares_clear) struct shares shares = {0};

	if (!excess(recorder))
		return;
	share_out(recorder, &shares);
	while (recorder->count > 1 && excess(recorder))
		if (!fold_oldest(recorder, &shares))
			evict_oldest(recorder, &shares);
}

void recorder_resize(struct recorder *recorder, size_t max_bytes)
{
	recorder->limits.max_bytes = max_bytes;
	evict(recorder);
}

int recorder_add(struct recorder *recorder, struct profile *slice)
{
	struct kept *slices =
		grown(recorder->slices, &recorder->capacity, recorder->count, sizeof(*slices));

	if (!slices) {
		recorder->stats.slices_failed++;
		profile_unref(slice);
		return -ENOMEM;
	}
	recorder->slices = slices;
	assert(!recorder->count ||
	       slice->start_mono_ns >= slice_end(recorder->slices[recorder->count - 1].profile));
	recorder->slices[recorder->count] = (struct kept){.profile = slice};
	weights_find(slice, &recorder->slices[recorder->count++].weights);
	recorder->stats.bytes += slice->memory_bytes;
	expire(recorder);
	merge_window(recorder);
	evict(recorder);
	return 0;
}

int recorder_hold(struct recorder *recorder, uint64_t mono_ns)
{
	uint64_t *holds = grown(recorder->holds, &recorder->hold_capacity, recorder->hold_count,
	                        sizeof(*holds));

	if (!holds)
		return -ENOMEM;
	recorder->holds = holds;
	recorder->holds[recorder->hold_count++] = mono_ns;
	return 0;
}

void recorder_unhold(struct recorder *recorder, uint64_t mono_ns)
{
	for (size_t i = 0; i < recorder->hold_count; i++) {
		if (recorder->holds[i] == mono_ns) {
			recorder->holds[i] = recorder->holds[--recorder->hold_count];
			return;
		}
	}
}

/* A slice belongs to the range that holds its middle, so two adjacent ranges never both get it.
 * But a range that is short compared to the slice gets the slice that it is in, so as not to be
 * empty. */
static bool in_range(const struct profile *slice, uint64_t from, uint64_t to)
{
	uint64_t start = larger(slice->start_mono_ns, from), end = smaller(slice_end(slice), to);
	uint64_t middle = slice->start_mono_ns + slice->duration_ns / 2;

	if (start >= end)
		return false;
	return (middle >= from && middle < to) || end - start >= (to - from) / 2;
}

int recorder_read(struct recorder *recorder, uint64_t from_mono_ns, uint64_t to_mono_ns,
                  struct slices *ret_slices)
{
	struct slices slices = {0};

	for (size_t i = 0; i < recorder->count; i++)
		slices.count += in_range(recorder->slices[i].profile, from_mono_ns, to_mono_ns);
	if (slices.count) {
		slices.profiles = calloc(slices.count, sizeof(*slices.profiles));
		if (!slices.profiles)
			return -ENOMEM;
	}
	slices.count = 0;
	for (size_t i = 0; i < recorder->count; i++)
		if (in_range(recorder->slices[i].profile, from_mono_ns, to_mono_ns))
			slices.profiles[slices.count++] = profile_ref(recorder->slices[i].profile);
	*ret_slices = slices;
	return 0;
}

void recorder_get_stats(const struct recorder *recorder, struct recorder_stats *ret_stats)
{
	*ret_stats = recorder->stats;
	ret_stats->slices = recorder->count;
	ret_stats->oldest_mono_ns =
		recorder->count ? recorder->slices[0].profile->start_mono_ns : 0;
}

void slices_release(struct slices *slices)
{
	for (size_t i = 0; i < slices->count; i++)
		profile_unref(slices->profiles[i]);
	free(slices->profiles);
	*slices = (struct slices){0};
}

uint64_t slices_gap(const struct slices *slices)
{
	uint64_t gap_ns = 0;

	for (size_t i = 1; i < slices->count; i++) {
		/* Of times that wrap, too. */
		int64_t ns = (int64_t)(slices->profiles[i]->start_mono_ns -
		                       slice_end(slices->profiles[i - 1]));

		gap_ns += ns > 0 ? (uint64_t)ns : 0;
	}
	return gap_ns;
}
