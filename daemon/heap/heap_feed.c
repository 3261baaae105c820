/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The builder grows for as long as the feed lives and is never sealed. A profile is made by merging
 * the parts that it needs, as if the builder were a slice, into another builder.
 */
#include "heap/heap_feed.h"

#include "base/clock.h"
#include "ingest/frames.h"
#include "ingest/tasks.h"
#include "profile/builder.h"
#include "profile/select.h"

#include <errno.h>
#include <math.h>

struct heap_feed {
	uint32_t pid;
	struct drain_tables tables;
	struct drain_losses losses;
	struct builder *builder;
	struct frames frames;
	struct heap_table *table;
};

static void describe(struct builder *builder)
{
	builder_value_type(builder, "alloc_objects", "count");
	builder_value_type(builder, "alloc_space", "bytes");
	builder_value_type(builder, "inuse_objects", "count");
	builder_value_type(builder, "inuse_space", "bytes");
}

struct heap_feed *heap_feed_new(const struct drain_tables *tables, uint32_t pid)
{
	_cleanup_(heap_feed_freep) struct heap_feed *feed = calloc(1, sizeof(*feed));

	if (!feed)
		return NULL;
	feed->pid = pid;
	feed->tables = *tables;
	feed->builder = builder_new();
	feed->table = heap_table_new(&(struct heap_limits){0});
	if (!feed->builder || !feed->table)
		return NULL;
	describe(feed->builder);
	feed->frames = frames_of(tables, feed->builder, &feed->losses);
	return TAKE_PTR(feed);
}

void heap_feed_free(struct heap_feed *feed)
{
	if (!feed)
		return;
	places_release(&feed->frames.places);
	builder_free(feed->builder);
	heap_table_destroy(feed->table);
	free(feed);
}

/* Memory belongs to the process, whichever thread allocated it. */
static uint32_t add_task(struct heap_feed *feed, const struct image *image, uint64_t mono_ns)
{
	struct task task = {.pid = feed->pid, .tid = feed->pid};

	task_identify(&task, feed->builder, &feed->tables, image, feed->frames.ran, mono_ns);
	return builder_task(feed->builder, &task);
}

void heap_feed_alloc(struct heap_feed *feed, const struct heap_fed *fed)
{
	const struct heap_event *event = fed->event;
	const struct image *image = procs_image(feed->tables.procs, feed->pid, event->time_ns);
	const struct stack_words stack = {.words = fed->words, .len = event->words, .whole = true};
	struct heap_alloc alloc = {
		.address = event->address,
		.size = event->size,
		.time_ns = event->time_ns,
		.weight = fed->weight,
	};

	alloc.path = frames_add(&feed->frames, image, &stack);
	if (!alloc.path)
		alloc.path = builder_node(feed->builder, 0,
		                          places_pseudo(&feed->frames.places, "[no stack]"));
	alloc.task = add_task(feed, image, event->time_ns);
	heap_table_alloc(feed->table, &alloc);
}

void heap_feed_free_address(struct heap_feed *feed, uint64_t address, uint64_t mono_ns)
{
	heap_table_free(feed->table, address, mono_ns);
}

struct samples {
	struct sample *at; /* the first one stands for none, as in every table of a profile */
	uint32_t count, capacity;
};

static uint64_t rounded(double value)
{
	return value > 0 ? (uint64_t)llround(value) : 0;
}

static int add_sums(const struct heap_sums *sums, void *ctx)
{
	struct samples *samples = ctx;

	if (samples->count == samples->capacity) {
		uint32_t capacity = samples->capacity * 2;
		struct sample *at = realloc(samples->at, capacity * sizeof(*at));

		if (!at)
			return -ENOMEM;
		samples->at = at;
		samples->capacity = capacity;
	}
	samples->at[samples->count++] = (struct sample){
		.node = sums->path,
		.task = sums->task,
		.values =
			{
				rounded(sums->allocated.objects),
				rounded(sums->allocated.bytes),
				rounded(sums->in_use.objects),
				rounded(sums->in_use.bytes),
			},
	};
	return 0;
}

/* A view of what was built so far, as a slice with these samples. */
static struct profile as_slice(struct heap_feed *feed, const struct samples *samples,
                               const struct heap_span *span)
{
	struct profile slice;

	builder_period(feed->builder, "space", "bytes", span->rate_bytes);
	slice = *builder_view(feed->builder);
	slice.samples = samples->at;
	slice.sample_count = samples->count;
	slice.start_mono_ns = span->start_mono_ns;
	slice.start_wall_ns = clock_wall_ns() - clock_mono_ns() + span->start_mono_ns;
	slice.duration_ns = span->end_mono_ns - span->start_mono_ns;
	return slice;
}

int heap_feed_profile(struct heap_feed *feed, enum heap_mode mode, const struct heap_span *span,
                      struct profile **ret_profile)
{
	const struct heap_window window = {span->start_mono_ns, span->end_mono_ns};
	struct samples samples = {.count = 1, .capacity = 1024};
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	struct profile slice, *slices = &slice;
	int err;

	samples.at = calloc(samples.capacity, sizeof(*samples.at));
	err = builder && samples.at ? builder_error(feed->builder) : -ENOMEM;
	if (!err)
		err = heap_table_read(feed->table, mode, &window, add_sums, &samples);
	if (!err) {
		slice = as_slice(feed, &samples, span);
		err = select_merge(builder, &slices, 1, &select_all);
	}
	free(samples.at);
	return err ?: builder_seal(builder, ret_profile);
}

void heap_feed_get_stats(const struct heap_feed *feed, struct heap_table_stats *ret_stats)
{
	heap_table_get_stats(feed->table, ret_stats);
}

size_t heap_feed_memory(const struct heap_feed *feed)
{
	return sizeof(*feed) + builder_memory(feed->builder) + heap_table_memory(feed->table);
}
