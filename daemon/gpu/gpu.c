/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The timer that reads the ring buffer while something is probed, and the slices.
 */
#include "gpu/gpu.h"

#include "base/clock.h"
#include "base/log.h"
#include "cuda/gpu_standing.h"
#include "gpu/gpu_events.h"
#include "gpu/gpu_feeds.h"
#include "gpu/gpu_rows.h"
#include "ingest/event_ring.h"
#include "kernel/gpu_kernel.h"
#include "profile/builder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
	TICK_MS = 50,
	/* A piece takes some two milliseconds where each event brings a new name. */
	PIECE_BYTES = GPU_EVENT_BYTES / 16,
};

struct gpu {
	struct gpu_config config;
	struct gpu_kernel kernel;
	struct gpu_standing *standing;
	struct gpu_feeds *feeds;
	struct gpu_events *events;
	struct event_ring ring;
	/* The last known total. When it changes, the counts per account are read. */
	uint64_t events_lost;
	uint64_t lost_of[ACCOUNT_PLACES]; /* losses that the feeds know of */
	uv_timer_t tick;
	uv_poll_t poll;
	bool started, polling;  /* which of the two handles are initialized */
	bool ticking, watching; /* the timer; the poll */
};

/* The layer that reports the samples of a kind. */
static enum gpu_layer layer_of(enum profile_kind kind)
{
	return kind == KIND_gpu_tensor ? GPU_LAYER_TENSOR : GPU_LAYER_DRIVER;
}

static void take_event(void *ctx, const void *bytes, size_t len)
{
	struct gpu *gpu = ctx;

	gpu_events_take(gpu->events, bytes, len);
}

/* The ring exists once the first BPF programs are loaded. False: not yet. */
static bool open_ring(struct gpu *gpu)
{
	int events = gpu->ring.buffer ? -1 : gpu_kernel_events(&gpu->kernel);

	return gpu->ring.buffer || (events >= 0 && event_ring_open(&gpu->ring, events));
}

static void tell_whose(struct gpu *gpu, const struct ring_user users[ACCOUNT_PLACES])
{
	uint64_t now_ns = clock_mono_ns();

	for (uint32_t at = 0; at < ACCOUNT_PLACES; at++) {
		if (users[at].lost != gpu->lost_of[at])
			gpu_feeds_lost(gpu->feeds, at, now_ns);
		gpu->lost_of[at] = users[at].lost;
	}
}

/* The kernel half counts a loss for its account before it counts it in the total. */
static void tell_of_lost(struct gpu *gpu)
{
	struct ring_user users[ACCOUNT_PLACES];
	struct gpu_counts counts;
	uint64_t lost;

	if (gpu_kernel_counts(&gpu->kernel, &counts))
		return;
	lost = counts.events_lost + counts.events_over_share;
	if (lost == gpu->events_lost || gpu_kernel_ring_users(&gpu->kernel, users))
		return;
	gpu->events_lost = lost;
	tell_whose(gpu, users);
}

/* Returns whether there may be more events. A process that has ended, by the mapping records read
 * before, has no events in the ring beyond those read now, unless only a piece was read. */
static bool read_events(struct gpu *gpu, size_t most_bytes)
{
	bool more;

	tell_of_lost(gpu);
	more = open_ring(gpu) && event_ring_read(&gpu->ring, most_bytes);
	if (!more || most_bytes == GPU_EVENT_BYTES)
		gpu_feeds_settle(gpu->feeds);
	return more;
}

/* The tables go first: mappings and code objects are reported before the stacks that refer to
 * them. */
static bool read_with_tables(struct gpu *gpu, size_t most_bytes)
{
	gpu->config.read_tables(gpu->config.ctx);
	return read_events(gpu, most_bytes);
}

void gpu_read(struct gpu *gpu)
{
	if (!event_ring_wait_ms(&gpu->ring))
		read_with_tables(gpu, GPU_EVENT_BYTES);
}

/* A slice has all events of its time, however long that takes. */
void gpu_read_before_drain(struct gpu *gpu)
{
	read_events(gpu, GPU_EVENT_BYTES);
	gpu_events_await_names(gpu->events);
}

static void read_piece(struct gpu *gpu);

static void on_tick(uv_timer_t *timer)
{
	read_piece(timer->data);
}

/* The ring fills up faster than the timer reads it. */
static void on_filling(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	read_piece(poll->data);
}

/* Starts or stops watching for a ring that fills up faster than the timer reads it. It is not
 * watched while the next piece waits for its time: it would be found full again at once. */
static void watch_ring(struct gpu *gpu, bool watched)
{
	if (watched && !gpu->polling && open_ring(gpu)) {
		gpu->polling =
			uv_poll_init(gpu->config.loop, &gpu->poll, event_ring_fd(&gpu->ring)) == 0;
		gpu->poll.data = gpu;
	}
	if (!gpu->polling || watched == gpu->watching)
		return;
	gpu->watching = watched;
	if (watched)
		uv_poll_start(&gpu->poll, UV_READABLE, on_filling);
	else
		uv_poll_stop(&gpu->poll);
}

/* Reads a piece. The next one follows when the pace allows it, after other work of the loop. */
static void read_piece(struct gpu *gpu)
{
	uint64_t wait_ms = event_ring_wait_ms(&gpu->ring);
	bool more = wait_ms || read_with_tables(gpu, PIECE_BYTES);

	if (!gpu->ticking)
		return;
	if (more)
		wait_ms = event_ring_wait_ms(&gpu->ring) ?: 1;
	watch_ring(gpu, !more);
	uv_timer_start(&gpu->tick, on_tick, more ? wait_ms : TICK_MS, TICK_MS);
}

static void set_pace(struct gpu *gpu, bool ticks)
{
	if (!gpu->started || ticks == gpu->ticking)
		return;
	gpu->ticking = ticks;
	if (ticks)
		uv_timer_start(&gpu->tick, on_tick, TICK_MS, TICK_MS);
	else
		uv_timer_stop(&gpu->tick);
	watch_ring(gpu, ticks);
}

static void read_status(const struct gpu *gpu, enum profile_kind kind,
                        struct gpu_layer_status *ret_status)
{
	*ret_status = (struct gpu_layer_status){.why = "the setting gpu is no"};
	if (gpu->standing)
		gpu_standing_status(gpu->standing, layer_of(kind), ret_status);
}

/* Updates which kinds are on, and why the others are off. */
static void on_changed(void *ctx)
{
	struct gpu *gpu = ctx;
	bool any = false;

	for (int kind = 0; kind < KIND_COUNT; kind++) {
		struct source_state *state = &gpu->config.states[kind];
		struct gpu_layer_status status;

		/* Kernels are on where the probes of the helper (libprofd-cuda.so) are attached,
		 * not here. */
		if (state->own != gpu || kind == KIND_gpu_kernel)
			continue;
		read_status(gpu, kind, &status);
		state->on = status.on;
		snprintf(state->why, sizeof(state->why), "%s", status.why);
		any |= status.on;
	}
	set_pace(gpu, any);
	gpu_feeds_attached(gpu->feeds, clock_mono_ns());
}

const char *gpu_why_off(const struct gpu *gpu)
{
	const struct source_state *calls = &gpu->config.states[KIND_gpu_launch];
	const struct source_state *tensors = &gpu->config.states[KIND_gpu_tensor];

	return calls->on || tensors->on ? "" : calls->why;
}

int gpu_new(const struct gpu_config *config, struct gpu **ret_gpu)
{
	struct gpu *gpu = calloc(1, sizeof(*gpu));

	if (!gpu)
		return -ENOMEM;
	*ret_gpu = gpu;
	gpu->config = *config;
	for (int kind = 0; kind < KIND_COUNT; kind++)
		if (sources[kind]->by_probes)
			config->states[kind].own = gpu;
	gpu->kernel.bpf = config->bpf;
	gpu->feeds = gpu_feeds_new(&(struct gpu_feeds_config){
		.tables = config->tables,
		.hash_key = gpu_kernel_hash_key(&gpu->kernel),
	});
	if (!gpu->feeds)
		return -ENOMEM;
	gpu->events = gpu_events_new(&(struct gpu_events_config){
		.feeds = gpu->feeds,
		.tables = config->tables,
		.out_of_memory = config->out_of_memory,
		.ctx = config->ctx,
	});
	if (!gpu->events)
		return -ENOMEM;
	gpu->ring = (struct event_ring){.take = take_event, .ctx = gpu};
	if (config->off)
		return 0;
	return gpu_standing_new(
		&(struct gpu_standing_config){
			.loop = config->loop,
			.procs = config->tables.procs,
			.store = config->tables.store,
			.crew = config->tables.crew,
			.kernel = &gpu->kernel,
			.changed = on_changed,
			.ctx = gpu,
		},
		&gpu->standing);
}

void gpu_start(struct gpu *gpu)
{
	uv_timer_init(gpu->config.loop, &gpu->tick);
	gpu->tick.data = gpu;
	gpu->started = true;
	if (gpu->standing)
		gpu_standing_start(gpu->standing);
	on_changed(gpu);
}

void gpu_stop(struct gpu *gpu)
{
	if (gpu->standing)
		gpu_standing_stop(gpu->standing);
	set_pace(gpu, false);
	if (gpu->started)
		uv_close((uv_handle_t *)&gpu->tick, NULL);
	if (gpu->polling)
		uv_close((uv_handle_t *)&gpu->poll, NULL);
	gpu->started = gpu->polling = gpu->watching = false;
}

void gpu_free(struct gpu *gpu)
{
	if (!gpu)
		return;
	gpu_standing_free(gpu->standing);
	event_ring_release(&gpu->ring);
	gpu_events_free(gpu->events);
	gpu_feeds_free(gpu->feeds);
	free(gpu);
}

int gpu_fill(struct gpu *gpu, struct half *half, enum profile_kind kind, struct builder *into,
             uint64_t *ret_samples)
{
	if (kind == KIND_gpu_kernel)
		return gpu_kernels_fill(gpu_events_kernels(gpu->events), half, into, ret_samples);
	if (sources[kind]->in_use)
		return gpu_feeds_allocated(gpu->feeds, kind, into, ret_samples);
	gpu_rows_add(half, gpu->feeds, kind, into, ret_samples);
	return 0;
}

void gpu_filled(struct gpu *gpu, uint64_t length_ns)
{
	gpu_feeds_drained(gpu->feeds, length_ns);
}

int gpu_in_use(struct gpu *gpu, enum profile_kind kind, struct builder *into)
{
	gpu_read(gpu);
	return gpu_feeds_held(gpu->feeds, kind, into);
}

int gpu_each(const struct gpu *gpu, gpu_figures_fn *fn, void *ctx)
{
	return gpu_feeds_each(gpu->feeds, fn, ctx);
}

void gpu_get_stats(const struct gpu *gpu, struct gpu_stats *ret_stats)
{
	struct gpu_files_status files = {0};
	struct gpu_counts counts = {0};

	*ret_stats = (struct gpu_stats){0};
	if (gpu_kernel_counts(&gpu->kernel, &counts))
		log_debug("cannot read the counts of GPU probes");
#define COUNT(name, help) ret_stats->name = counts.name;
	GPU_COUNTS(COUNT)
#undef COUNT
	if (gpu->standing) {
		gpu_standing_counts(gpu->standing, &files);
		ret_stats->searches_put_off = gpu_standing_put_off(gpu->standing);
	}
	ret_stats->files = files.attached;
	ret_stats->sites = files.sites;
	ret_stats->files_untrusted = files.untrusted;
	gpu_feeds_get_stats(gpu->feeds, ret_stats);
	gpu_events_get_stats(gpu->events, ret_stats);
}

void gpu_add_reader_stats(const struct gpu *gpu, struct reader_stats *stats)
{
	if (gpu->standing)
		gpu_standing_add_reader_stats(gpu->standing, stats);
}
