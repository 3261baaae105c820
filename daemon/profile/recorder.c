/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Slices in order of time in one array. They are few, some hundreds: a merge replaces those of a
 * window by one, so everything here walks the array and memmove closes the gaps.
 */
#include "profile/recorder.h"

#include "profile/select.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

struct recorder {
	struct recorder_limits limits;
	struct profile **slices;
	size_t count, capacity;
	uint64_t *holds; /* one entry per holder, in no order */
	size_t hold_count, hold_capacity;
	uint64_t evicted_window; /* the last one that was counted, plus 1 */
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

/* The array, with room for one more; NULL when out of memory, and then the old one is still good.
 */
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

/* Lets go of slices [from, to). */
static void drop(struct recorder *recorder, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		recorder->stats.bytes -= recorder->slices[i]->memory_bytes;
		profile_unref(recorder->slices[i]);
	}
	if (to > from)
		memmove(&recorder->slices[from], &recorder->slices[to],
		        (recorder->count - to) * sizeof(struct profile *));
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

/* Where the window that slice `from` is in ends. */
static size_t window_end(const struct recorder *recorder, size_t from)
{
	uint64_t window = slice_window(recorder, recorder->slices[from]);
	size_t to = from;

	while (to < recorder->count && slice_window(recorder, recorder->slices[to]) == window)
		to++;
	return to;
}

/* One slice in place of [from, to). When that fails they stay as they are, which is only dearer. */
static void merge(struct recorder *recorder, size_t from, size_t to)
{
	static const struct selection everything = {.loops = LOOPS_KEPT, .dims = true};
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	struct profile *merged;

	if (!builder || select_merge(builder, &recorder->slices[from], to - from, &everything) ||
	    builder_seal(builder, &merged))
		return;
	drop(recorder, from + 1, to);
	recorder->stats.bytes -= recorder->slices[from]->memory_bytes;
	profile_unref(recorder->slices[from]);
	recorder->slices[from] = merged;
	recorder->stats.bytes += merged->memory_bytes;
}

/* Merges what is in windows that have been over for `fine_ns`, no slice of theirs being still to
 * come. */
static void merge_windows(struct recorder *recorder)
{
	const uint64_t window_ns = recorder->limits.window_ns;
	uint64_t now;

	if (!recorder->count)
		return;
	now = slice_end(recorder->slices[recorder->count - 1]);
	now -= smaller(now, recorder->limits.fine_ns);
	for (size_t from = 0; from < recorder->count; from++) {
		const struct profile *first = recorder->slices[from];
		size_t to = window_end(recorder, from);

		if (slice_window(recorder, first) >= now / window_ns)
			return;
		if (to - from < 2)
			continue;
		if (held(recorder, first->start_mono_ns, slice_end(recorder->slices[to - 1])))
			from = to - 1;
		else
			merge(recorder, from, to);
	}
}

static void expire(struct recorder *recorder)
{
	uint64_t now = slice_end(recorder->slices[recorder->count - 1]);
	size_t old = 0;

	while (old < recorder->count &&
	       now - slice_end(recorder->slices[old]) > recorder->limits.keep_ns)
		old++;
	drop(recorder, 0, old);
}

/* The newest slice stays even if it is too big alone: somebody may be waiting for it. */
static void evict(struct recorder *recorder)
{
	size_t out = 0, bytes = recorder->stats.bytes;

	while (out + 1 < recorder->count && bytes > recorder->limits.max_bytes) {
		const struct profile *slice = recorder->slices[out++];
		uint64_t window = slice_window(recorder, slice) + 1;

		bytes -= slice->memory_bytes;
		recorder->stats.windows_evicted += window != recorder->evicted_window;
		recorder->evicted_window = window;
		for (uint32_t i = 1; i < slice->sample_count; i++)
			recorder->stats.samples_evicted += slice->samples[i].values[0];
	}
	drop(recorder, 0, out);
}

void recorder_resize(struct recorder *recorder, size_t max_bytes)
{
	recorder->limits.max_bytes = max_bytes;
	evict(recorder);
}

int recorder_add(struct recorder *recorder, struct profile *slice)
{
	struct profile **slices =
		grown(recorder->slices, &recorder->capacity, recorder->count, sizeof(*slices));
	uint64_t window_ns = recorder->limits.window_ns, last_window = 0;

	if (!slices) {
		recorder->stats.slices_failed++;
		profile_unref(slice);
		return -ENOMEM;
	}
	recorder->slices = slices;
	if (recorder->count) {
		uint64_t end = slice_end(recorder->slices[recorder->count - 1]);

		assert(slice->start_mono_ns >= end);
		last_window = end / window_ns;
	}
	recorder->slices[recorder->count++] = slice;
	recorder->stats.bytes += slice->memory_bytes;
	expire(recorder);
	if (slice_end(slice) / window_ns != last_window)
		merge_windows(recorder);
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
			merge_windows(recorder);
			return;
		}
	}
}

/* The middle decides for a slice, so that two ranges side by side never both get it; but a range
 * that is short beside the slice gets the slice it is in, for something is better than nothing. */
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
		slices.count += in_range(recorder->slices[i], from_mono_ns, to_mono_ns);
	if (slices.count) {
		slices.profiles = calloc(slices.count, sizeof(*slices.profiles));
		if (!slices.profiles)
			return -ENOMEM;
	}
	slices.count = 0;
	for (size_t i = 0; i < recorder->count; i++)
		if (in_range(recorder->slices[i], from_mono_ns, to_mono_ns))
			slices.profiles[slices.count++] = profile_ref(recorder->slices[i]);
	*ret_slices = slices;
	return 0;
}

void recorder_get_stats(const struct recorder *recorder, struct recorder_stats *ret_stats)
{
	*ret_stats = recorder->stats;
	ret_stats->slices = recorder->count;
	ret_stats->oldest_mono_ns = recorder->count ? recorder->slices[0]->start_mono_ns : 0;
}

void slices_release(struct slices *slices)
{
	for (size_t i = 0; i < slices->count; i++)
		profile_unref(slices->profiles[i]);
	free(slices->profiles);
	*slices = (struct slices){0};
}
