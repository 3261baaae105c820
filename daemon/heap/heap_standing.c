/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which processes are inspected, and what is done with their reports.
 */
#include "heap/heap_standing.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/pid_set.h"
#include "heap/heap_tellers.h"
#include "probes/file_opener.h"
#include "probes/file_seen.h"
#include "probes/standing_files.h"
#include "probes/usdt_files.h"
#include "proc/sets_without.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
	DUE_MS = 300,         /* from a change of a process until changed processes are inspected */
	OPENED_MS = 10,       /* the same, when a file was opened for a process */
	SWEEP_MS = 20 * 1000, /* between two sweeps for files that no process maps */
	MAX_CHANGED = 16384,  /* processes until then; others are inspected at their next change */
	MAX_OWN_FRAMES = 4,   /* of the library that samples, below the caller that allocates */
};

struct heap_standing {
	struct heap_standing_config config;
	struct usdt_files *usdt_files;
	struct file_opener *opener;
	struct standing_files files;
	bool listens; /* whether allocations are listened to */
	struct procs_watcher watcher;
	struct pid_set changed, waiting;
	struct sets_without without; /* static probes */
	uv_timer_t due, sweep;
	bool started, stopped;
	struct heap_tellers tellers;
};

static void on_due(uv_timer_t *timer);

static void look_soon(struct heap_standing *standing)
{
	if (standing->started && !standing->stopped && !uv_is_active((uv_handle_t *)&standing->due))
		uv_timer_start(&standing->due, on_due, DUE_MS, 0);
}

static void note_change(uint32_t pid, void *ctx)
{
	struct heap_standing *standing = ctx;

	pid_set_add(&standing->changed, pid);
	look_soon(standing);
}

/* A process that waits for a file may find it ready now. */
static void note_found(void *ctx)
{
	struct heap_standing *standing = ctx;

	pid_set_move(&standing->waiting, &standing->changed);
	look_soon(standing);
}

static void note_opened(void *ctx)
{
	struct heap_standing *standing = ctx;

	note_found(standing);
	if (standing->started && !standing->stopped &&
	    uv_timer_get_due_in(&standing->due) > OPENED_MS)
		uv_timer_start(&standing->due, on_due, OPENED_MS, 0);
}

static void note_attached(const struct usdt_file *file, void *ctx)
{
	struct heap_standing *standing = ctx;

	if (usdt_file_has(file, STATIC_HEAP_ALLOC) || usdt_file_has(file, STATIC_HEAP_FREE)) {
		standing->listens = true;
		standing->config.attached(standing->config.ctx);
	}
	if (usdt_file_has(file, STATIC_GPU_RAN))
		standing->config.hears_gpus(standing->config.ctx);
}

static void on_sweep(uv_timer_t *timer)
{
	struct heap_standing *standing = timer->data;

	probed_files_sweep(&standing->files.probed);
	if (!file_opener_sweep(standing->opener) && !standing->files.probed.first)
		uv_timer_stop(timer);
}

static void look_at(uint32_t pid, void *ctx)
{
	struct heap_standing *standing = ctx;
	const struct mapping_set *set = procs_mappings(standing->config.tables.procs, pid);
	size_t count = set ? mapping_set_count(set) : 0;
	struct file_seen seen = {0};
	bool waits = false, found = false;

	if (!set || sets_without_has(&standing->without, set))
		return;
	for (size_t i = 0; i < count; i++) {
		const struct proc_mapping *mapping = mapping_set_at(set, i);
		const struct usdt_file *file;
		bool pending;

		if (!file_seen_is_new(&seen, mapping))
			continue;
		file = usdt_files_get(standing->usdt_files, mapping->object, &pending);
		waits |= pending;
		found |= file != NULL;
		if (file && file_seen_use(&seen, mapping))
			waits |= !probed_files_use(&standing->files.probed, pid, mapping, 0);
	}
	if ((standing->files.probed.first || waits) &&
	    !uv_is_active((uv_handle_t *)&standing->sweep))
		uv_timer_start(&standing->sweep, on_sweep, SWEEP_MS, SWEEP_MS);
	if (waits)
		pid_set_add(&standing->waiting, pid);
	else if (!found)
		sets_without_add(&standing->without, set);
}

static void on_due(uv_timer_t *timer)
{
	struct heap_standing *standing = timer->data;

	if (pid_set_take_some(&standing->changed, look_at, standing))
		uv_timer_start(timer, on_due, PID_SET_PIECE_MS, 0);
}

int heap_standing_new(const struct heap_standing_config *config,
                      struct heap_standing **ret_standing)
{
	struct heap_standing *standing = calloc(1, sizeof(*standing));

	*ret_standing = standing;
	if (!standing)
		return -ENOMEM;
	standing->config = *config;
	standing->opener =
		file_opener_new(config->tables.crew, config->tables.store, note_opened, standing);
	if (!standing->opener)
		return -ENOMEM;
	heap_tellers_init(&standing->tellers, &config->tables, config->stats);
	standing_files_init(&standing->files, &(struct standing_files_config){
						      .lane = config->lane,
						      .reader = config->reader,
						      .procs = config->tables.procs,
						      .opener = standing->opener,
						      .heaps = config->kernel,
						      .gpus = config->gpus,
						      .attached = note_attached,
						      .changed = note_found,
						      .ctx = standing,
					      });
	standing->usdt_files = usdt_files_new(config->lane, config->reader, config->tables.store,
	                                      note_found, standing);
	if (!standing->usdt_files || pid_set_init(&standing->changed, MAX_CHANGED) ||
	    pid_set_init(&standing->waiting, MAX_CHANGED))
		return -ENOMEM;
	return 0;
}

void heap_standing_start(struct heap_standing *standing)
{
	uv_timer_init(standing->config.loop, &standing->due);
	uv_timer_init(standing->config.loop, &standing->sweep);
	standing->due.data = standing;
	standing->sweep.data = standing;
	standing->started = true;
	standing->watcher = (struct procs_watcher){.fn = note_change, .ctx = standing};
	procs_watch(standing->config.tables.procs, &standing->watcher);
}

void heap_standing_stop(struct heap_standing *standing)
{
	standing->stopped = true;
	if (!standing->started)
		return;
	procs_unwatch(standing->config.tables.procs, &standing->watcher);
	uv_close((uv_handle_t *)&standing->due, NULL);
	uv_close((uv_handle_t *)&standing->sweep, NULL);
}

void heap_standing_free(struct heap_standing *standing)
{
	if (!standing)
		return;
	heap_tellers_release(&standing->tellers);
	probed_files_release(&standing->files.probed);
	file_opener_free(standing->opener);
	usdt_files_free(standing->usdt_files);
	pid_set_release(&standing->changed);
	pid_set_release(&standing->waiting);
	free(standing);
}

/* The frames of the library that samples say nothing and are left off. In a program that has the
 * probes itself they are all there is, and are kept. */
static uint16_t own_frames(struct heap_standing *standing, const struct image *image,
                           const struct heap_event *event, const uint64_t *words)
{
	const struct usdt_file *file;
	uint16_t own = 0;
	bool pending;

	while (own < event->words) {
		const struct proc_mapping *mapping = mapping_set_find(image->set, words[own]);

		if (!mapping || !mapping->object)
			break;
		file = usdt_files_get(standing->usdt_files, mapping->object, &pending);
		if (!file || !usdt_file_has(file, STATIC_HEAP_ALLOC))
			break;
		own++;
	}
	return own <= MAX_OWN_FRAMES && own < event->words ? own : 0;
}

void heap_standing_take(struct heap_standing *standing, const struct heap_event *event,
                        const uint64_t *words)
{
	const struct image *image =
		procs_image(standing->config.tables.procs, event->pid, event->time_ns);
	struct teller *teller =
		image ? heap_tellers_get(&standing->tellers, event->pid, image, event->time_ns)
		      : NULL;
	struct heap_event shown = *event;
	uint16_t own;

	if (!teller) {
		standing->config.stats->heap_table_full++;
		return;
	}
	if (event->kind == HEAP_EVENT_FREE) {
		standing->config.stats->heap_freed++;
		heap_feed_free_address(teller->feed, event->address, event->time_ns);
	} else if (event->kind == HEAP_EVENT_ALLOC) {
		own = own_frames(standing, image, event, words);
		shown.words -= own;
		standing->config.stats->heap_samples++;
		heap_feed_alloc(teller->feed,
		                &(struct heap_fed){
					.event = &shown,
					.words = words + own,
					.weight = heap_weight_told(event->size, event->weight),
				});
		heap_tellers_charge(&standing->tellers, teller);
	}
}

void heap_standing_expire(struct heap_standing *standing)
{
	heap_tellers_expire(&standing->tellers);
}

int heap_standing_profile(struct heap_standing *standing, uint32_t pid, enum heap_mode mode,
                          struct profile **ret_profile, struct heap_figures *ret_figures)
{
	struct teller *teller = heap_tellers_find(&standing->tellers, pid);
	struct heap_table_stats table;
	struct heap_span span;

	if (!teller)
		return -ENOENT;
	span = (struct heap_span){.start_mono_ns = teller->start_mono_ns,
	                          .end_mono_ns = clock_mono_ns()};
	heap_feed_get_stats(teller->feed, &table);
	*ret_figures = (struct heap_figures){
		.allocator = "its own samples",
		.start_mono_ns = span.start_mono_ns,
		.watched_ns = span.end_mono_ns - span.start_mono_ns,
		.samples = table.allocated,
		.freed = table.freed,
		.dropped = table.no_room_live + table.no_room_stacks,
		.end_text = "",
	};
	return heap_feed_profile(teller->feed, mode, &span, ret_profile);
}

bool heap_standing_inuse(const struct heap_standing *standing, uint32_t pid, uint64_t *ret_bytes)
{
	const struct teller *teller = heap_tellers_find(&standing->tellers, pid);
	const struct image *image =
		teller ? procs_image(standing->config.tables.procs, pid, clock_mono_ns()) : NULL;
	struct heap_table_stats table;

	/* A process that has called exec since has not reported anything yet. */
	if (!image || image->start_mono_ns != teller->image_ns)
		return false;
	heap_feed_get_stats(teller->feed, &table);
	*ret_bytes = table.in_use.bytes > 0 ? (uint64_t)table.in_use.bytes : 0;
	return true;
}

bool heap_standing_listens(const struct heap_standing *standing)
{
	return standing->listens;
}

uint32_t heap_standing_count(const struct heap_standing *standing)
{
	return heap_tellers_count(&standing->tellers);
}

uint64_t heap_standing_bytes(const struct heap_standing *standing)
{
	return standing->tellers.byte_shares.taken;
}

uint64_t heap_standing_put_off(const struct heap_standing *standing)
{
	return usdt_files_put_off(standing->usdt_files);
}

void heap_standing_files(const struct heap_standing *standing, uint64_t *ret_refused,
                         uint64_t *ret_untrusted)
{
	*ret_refused = standing->files.probed.refused;
	*ret_untrusted = standing->files.probed.untrusted_count;
}
