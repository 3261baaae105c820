/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "gpu/gpu_events.h"

#include "base/clock.h"
#include "gpu/gpu_name_fetch.h"

#include <string.h>

struct gpu_events {
	struct gpu_events_config config;
	struct gpu_feeds *feeds;
	struct gpu_names *names; /* of the feeds */
	struct gpu_name_fetches *fetches;
	struct gpu_kernels *kernels;
	struct gpu_feed_counts counts;
	uint64_t malformed;
};

static gpu_name_fetched_fn take_fetched;

struct gpu_events *gpu_events_new(const struct gpu_events_config *config)
{
	_cleanup_(gpu_events_freep) struct gpu_events *events = calloc(1, sizeof(*events));

	if (!events)
		return NULL;
	events->config = *config;
	events->feeds = config->feeds;
	events->names = gpu_feeds_names(config->feeds);
	events->kernels = gpu_kernels_new(&config->tables);
	events->fetches = gpu_name_fetches_new(config->tables.crew, config->tables.execs,
	                                       take_fetched, events);
	return events->kernels && events->fetches ? TAKE_PTR(events) : NULL;
}

void gpu_events_free(struct gpu_events *events)
{
	if (!events)
		return;
	gpu_kernels_free(events->kernels);
	gpu_name_fetches_free(events->fetches);
	free(events);
}

static struct gpu_feed *feed_of(struct gpu_events *events, const struct gpu_event *event)
{
	return gpu_feeds_get(events->feeds, event->pid, event->image, event->time_ns);
}

/* Whether the profile of one more failure is kept. Failures do not come in order: one that is older
 * than the current second counts in it. */
static bool takes_failure(struct gpu_feed *feed, uint64_t mono_ns)
{
	if (!feed->failed_second || mono_ns >= feed->failed_second + NSEC_PER_SEC) {
		feed->failed_second = mono_ns;
		feed->failed_kept = 0;
	}
	return feed->failed_kept++ < GPU_FAILURES_A_SECOND;
}

static void take_failure(struct gpu_events *events, struct gpu_feed *feed,
                         const struct gpu_event *event, const uint64_t *words)
{
	struct keepsake what = {
		.pid = feed->pid,
		.owner = feed->handles.owner,
		.kind = event->layer == GPU_LAYER_TENSOR ? KIND_gpu_tensor : KIND_gpu_memory,
		.reason = KEEPSAKE_gpu_memory,
		.when_unix_ms =
			(clock_wall_ns() - clock_mono_ns() + event->time_ns) / NSEC_PER_MSEC,
		.bytes = gpu_feed_bytes(feed, event->layer),
	};

	gpu_feed_failed(feed, event);
	if (!events->config.out_of_memory || !takes_failure(feed, event->time_ns))
		return;
	if (gpu_feed_failure(feed, event, words, &what.profile))
		return;
	memcpy(what.comm, feed->comm, sizeof(what.comm));
	what.comm[sizeof(what.comm) - 1] = '\0';
	events->config.out_of_memory(&what, events->config.ctx);
}

static void take_memory(struct gpu_events *events, struct gpu_event event, const uint64_t *words)
{
	struct gpu_feed *feed = feed_of(events, &event);

	if (!feed)
		return;
	/* The tensor layer has this one kind of memory, and no other layer has it. */
	if (event.layer == GPU_LAYER_TENSOR)
		event.memory = GPU_MEMORY_TENSOR;
	if (event.kind == GPU_EVENT_ALLOC)
		gpu_feed_alloc(feed, &event, words, &events->counts);
	else if (event.kind == GPU_EVENT_FREE)
		gpu_feed_release(feed, &event);
	else if (event.kind == GPU_EVENT_FAILED)
		gpu_feed_failed(feed, &event);
	else
		take_failure(events, feed, &event, words);
}

static void take_end(struct gpu_events *events, const struct gpu_event *event)
{
	struct gpu_feed *feed = feed_of(events, event);

	if (feed)
		gpu_feed_end(feed, event, &events->counts);
}

static struct gpu_named_by named_by(const struct gpu_event *event, uint64_t handle)
{
	return (struct gpu_named_by){event->pid, event->image, handle};
}

/* The name was not in memory when the kernel half reported the handle; CUDA has read it since. If
 * the process runs another program now, the address holds something else. */
static void fetch_name(struct gpu_events *events, struct gpu_feed *feed,
                       const struct gpu_event *event)
{
	const struct gpu_named_by by = named_by(event, event->address);

	if (gpu_feeds_is_over(events->feeds, feed) ||
	    !gpu_name_fetches_start(events->fetches, &by, feed->handles.owner, event))
		events->names->lost++;
}

static void take_fetched(const struct gpu_name_fetched *fetched, void *ctx)
{
	struct gpu_events *events = ctx;
	struct gpu_feed *feed = gpu_feeds_find(events->feeds, fetched->by.pid, fetched->by.image);

	if (!feed || !fetched->len || gpu_feeds_is_over(events->feeds, feed)) {
		events->names->lost++;
		return;
	}
	for (size_t i = 0; i < fetched->count; i++)
		gpu_names_add(events->names, &feed->handles, fetched->handles[i], fetched->name,
		              fetched->len);
}

static void add_again(struct gpu_events *events, struct gpu_feed *feed,
                      const struct gpu_event *event)
{
	const struct gpu_named_by known = named_by(event, event->size);

	if (!gpu_name_fetches_add(events->fetches, &known, event->address))
		gpu_names_add_again(events->names, &feed->handles, event->address, event->size);
}

static void take_name(struct gpu_events *events, const struct gpu_event *event, const void *bytes)
{
	struct gpu_feed *feed = feed_of(events, event);

	if (!feed)
		return;
	/* An alias event that names the handle itself changes nothing. */
	const struct gpu_named_by by = named_by(event, event->address);
	if (event->kind == GPU_EVENT_NAME || event->address != event->size)
		gpu_name_fetches_drop(events->fetches, &by);
	if (event->kind == GPU_EVENT_NAME && !event->words)
		fetch_name(events, feed, event);
	else if (event->kind == GPU_EVENT_NAME)
		gpu_names_add(events->names, &feed->handles, event->address, bytes,
		              event->words * sizeof(uint64_t));
	else
		add_again(events, feed, event);
}

static bool is_whole(const struct gpu_event *event, size_t len)
{
	return len >= sizeof(*event) && event->words <= MAX_STACK_FRAMES &&
	       len - sizeof(*event) >= event->words * sizeof(uint64_t);
}

static bool is_memory(const struct gpu_event *event)
{
	return event->layer == GPU_LAYER_TENSOR ||
	       (event->layer == GPU_LAYER_DRIVER && event->memory < GPU_MEMORY_TENSOR);
}

void gpu_events_take(struct gpu_events *events, const void *bytes, size_t len)
{
	const struct gpu_event *event = bytes;
	const uint64_t *words = (const uint64_t *)(event + 1);

	if (!is_whole(event, len)) {
		events->malformed++;
		return;
	}
	switch (event->kind) {
	case GPU_EVENT_ALLOC:
	case GPU_EVENT_FREE:
	case GPU_EVENT_OOM:
	case GPU_EVENT_FAILED:
		if (is_memory(event))
			take_memory(events, *event, words);
		else
			events->malformed++;
		break;
	case GPU_EVENT_NAME:
	case GPU_EVENT_ALIAS:
		take_name(events, event, words);
		break;
	case GPU_EVENT_CONTEXT:
	case GPU_EVENT_ENDED:
	case GPU_EVENT_MAPPED:
	case GPU_EVENT_UNMAPPED:
	case GPU_EVENT_RETAINED:
		take_end(events, event);
		break;
	case GPU_EVENT_LAUNCHED:
		gpu_kernels_launched(events->kernels, event, words);
		break;
	case GPU_EVENT_RAN:
		gpu_kernels_ran(events->kernels, event, words);
		break;
	default:
		events->malformed++;
	}
}

struct gpu_kernels *gpu_events_kernels(struct gpu_events *events)
{
	return events->kernels;
}

void gpu_events_await_names(struct gpu_events *events)
{
	gpu_name_fetches_settle(events->fetches);
}

void gpu_events_get_stats(const struct gpu_events *events, struct gpu_stats *stats)
{
	stats->table_full = events->counts.table_full;
	stats->stacks_full = events->counts.stacks_full;
	stats->contexts_full = events->counts.contexts_full;
	stats->maps_full = events->counts.maps_full;
	stats->malformed = events->malformed;
	gpu_kernels_get_stats(events->kernels, &stats->kernels);
}
