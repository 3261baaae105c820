/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The heartbeat of the daemon: flip the halves, wait until the old one is quiet, read the side-band
 * up to the flip, drain, add the slice, answer whoever asked for the boundary. Once a second, and
 * when asked.
 */
#include "collect/collector.h"

#include "base/clock.h"
#include "base/log.h"
#include "collect/bpf.h"
#include "collect/drain.h"
#include "collect/hotplug.h"
#include "collect/perf.h"
#include "collect/python.h"
#include "collect/sideband.h"
#include "collect/source.h"
#include "collect/unwind_maps.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
	DRAIN_MS = 1000,
	/* A tick at the usual rate and a half: it shows that the whole chain works. */
	FIRST_DRAIN_MS = 15,
	/* After a flip, before the first look whether the old half is quiet: programs run
	   microseconds. */
	SETTLE_MS = 1,
	/* Between two flips at the least: a tick at 99 Hz is as long. */
	FLIP_GAP_MS = 10,
	/* Requests that come closer together than this share a flip. */
	SHARE_MS = 100,
	/* How long before its moment a flip is given to the kernel half, which keeps time while the
	 * loop may be woken late. */
	FLIP_LEAD_MS = 100,
};

/* For as long, samples of a program that has ended may still wait to be drained. */
static const uint64_t keep_ended_ns = 5 * NSEC_PER_SEC;

struct collector {
	uv_loop_t *loop;
	struct procs *procs;
	struct store *store;
	struct recorder *recorder;
	struct bpf bpf;
	struct unwind_memory unwind_memory;
	struct unwinder *unwinder;
	struct python python;
	struct sideband *sideband;
	struct hotplug hotplug;
	struct source_state states[KIND_COUNT];
	uv_timer_t second, flip, settle;

	struct cut *waiting;  /* for the next flip */
	struct cut *settling; /* for the flip under way */
	bool drain_due, flip_under_way, ready;
	uint32_t old_half;
	struct drain_span span;
	uint64_t next_start_mono_ns, next_start_wall_ns;

	struct collector_stats stats;
	struct drain_losses losses;
};

#define COUNTER(name, help) #name,
const char *const counter_names[COUNTER_COUNT] = {COUNTERS(COUNTER)};
#undef COUNTER
#define COUNTER(name, help) help,
const char *const counter_help[COUNTER_COUNT] = {COUNTERS(COUNTER)};
#undef COUNTER

static void plan_flip(struct collector *collector);

static void answer(struct cut **list, uint64_t boundary_mono_ns)
{
	while (*list) {
		struct cut *cut = *list;

		*list = cut->next;
		cut->done(cut, boundary_mono_ns);
	}
}

static void account(struct collector *collector, const struct drained *drained)
{
	struct collector_stats *stats = &collector->stats;

	for (int i = 0; i < COUNTER_COUNT; i++)
		stats->counters[i] += drained->counters.values[i];
	stats->drains++;
	stats->drain_errors += drained->err != 0;
	stats->samples_lost_in_drain = collector->losses.samples_lost_in_drain;
	stats->frames_unmapped = collector->losses.frames_unmapped;
	stats->frames_without_stack = collector->losses.frames_without_stack;
	stats->images_missing = collector->losses.images_missing;
	stats->python_codes_unknown = collector->losses.python_codes_unknown;
	stats->python_words_misplaced = collector->losses.python_words_misplaced;
	stats->tallies_used = (uint32_t)drained->tally_count;
	stats->stacks_used = (uint32_t)drained->stack_count;
}

static void drain(struct collector *collector)
{
	const struct drain_tables tables = {
		.procs = collector->procs,
		.store = collector->store,
		.pythons = collector->python.pythons,
		.codes = collector->python.codes,
		.codes_told = collector->python.codes_told,
	};
	uint64_t begin = clock_mono_ns();
	struct profile *slice;
	struct drained drained;
	int err;

	sideband_read(collector->sideband);
	python_read(&collector->python);
	bpf_drain(&collector->bpf, collector->old_half, &drained);
	err = drain_slice(&drained, &collector->span, &tables, &collector->losses, &slice);
	if (!err)
		err = recorder_add(collector->recorder, slice);
	account(collector, &drained);
	collector->stats.last_drain_ns = clock_mono_ns() - begin;
	collector->ready |= !err && !drained.err;
	procs_expire(collector->procs, collector->span.end_mono_ns - keep_ended_ns);
}

static void start_timer(uv_timer_t *timer, uv_timer_cb fn, uint64_t at_mono_ns)
{
	uint64_t now = clock_mono_ns();
	uint64_t wait_ns = at_mono_ns > now ? at_mono_ns - now : 0;

	uv_update_time(timer->loop);
	uv_timer_start(timer, fn, (wait_ns + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC, 0);
}

static void on_settle(uv_timer_t *timer)
{
	struct collector *collector = timer->data;
	uint64_t quiet = collector->span.end_mono_ns + SETTLE_MS * NSEC_PER_MSEC;
	uint64_t now = clock_mono_ns();

	if (now < quiet || !bpf_settled(&collector->bpf, collector->old_half)) {
		start_timer(&collector->settle, on_settle,
		            now < quiet ? quiet : now + SETTLE_MS * NSEC_PER_MSEC);
		return;
	}
	drain(collector);
	collector->flip_under_way = false;
	answer(&collector->settling, collector->span.end_mono_ns);
	plan_flip(collector);
}

/* Moves the cuts that a boundary at this time serves. */
static void take_waiting(struct collector *collector, uint64_t boundary)
{
	struct cut **link = &collector->waiting;

	while (*link) {
		struct cut *cut = *link;

		if (cut->at_mono_ns > boundary) {
			link = &cut->next;
			continue;
		}
		*link = cut->next;
		cut->next = collector->settling;
		collector->settling = cut;
	}
}

static void flip(struct collector *collector, uint64_t at)
{
	collector->flip_under_way = true;
	collector->drain_due = false;
	collector->span.start_mono_ns = collector->next_start_mono_ns;
	collector->span.start_wall_ns = collector->next_start_wall_ns;
	collector->span.end_mono_ns = at;
	collector->old_half = bpf_flip(&collector->bpf, at);
	collector->next_start_mono_ns = at;
	collector->next_start_wall_ns = clock_wall_ns() - clock_mono_ns() + at;
	take_waiting(collector, at);
	start_timer(&collector->settle, on_settle, at + SETTLE_MS * NSEC_PER_MSEC);
}

static void on_plan(uv_timer_t *timer)
{
	plan_flip(timer->data);
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * When the next flip is wanted; UINT64_MAX when nobody wants one. A moment that was asked for is
 * kept; who wants one as soon as can be shares it, or the one of those who came just before.
 */
static uint64_t next_wanted(const struct collector *collector)
{
	uint64_t now = clock_mono_ns(), last = collector->next_start_mono_ns;
	uint64_t planned = UINT64_MAX, soon;
	bool hurry = collector->drain_due;

	for (const struct cut *cut = collector->waiting; cut; cut = cut->next) {
		if (!cut->at_mono_ns)
			hurry = true;
		else if (cut->at_mono_ns < planned)
			planned = cut->at_mono_ns;
	}
	soon = later(now, last + SHARE_MS * NSEC_PER_MSEC);
	if (hurry && planned > soon + SHARE_MS * NSEC_PER_MSEC)
		return soon;
	if (planned == UINT64_MAX)
		return UINT64_MAX;
	return later(planned, later(now, last + FLIP_GAP_MS * NSEC_PER_MSEC));
}

/* Sets the next flip going if it is near, else a timer for when it will be. */
static void plan_flip(struct collector *collector)
{
	uint64_t at = next_wanted(collector);

	if (collector->flip_under_way || at == UINT64_MAX)
		return;
	if (at > clock_mono_ns() + FLIP_LEAD_MS * NSEC_PER_MSEC)
		start_timer(&collector->flip, on_plan, at - FLIP_LEAD_MS * NSEC_PER_MSEC);
	else
		flip(collector, at);
}

static void on_second(uv_timer_t *timer)
{
	struct collector *collector = timer->data;

	collector->drain_due = true;
	plan_flip(collector);
}

void collector_cut(struct collector *collector, struct cut *cut)
{
	/* The flip under way serves it as well, as long as its moment is still to come. */
	bool joins = collector->flip_under_way && cut->at_mono_ns <= collector->span.end_mono_ns &&
	             clock_mono_ns() < collector->span.end_mono_ns;
	struct cut **list = joins ? &collector->settling : &collector->waiting;

	cut->next = *list;
	*list = cut;
	plan_flip(collector);
}

static void unlink_cut(struct cut **list, const struct cut *cut)
{
	for (; *list; list = &(*list)->next) {
		if (*list == cut) {
			*list = cut->next;
			return;
		}
	}
}

void collector_cancel(struct collector *collector, struct cut *cut)
{
	unlink_cut(&collector->waiting, cut);
	unlink_cut(&collector->settling, cut);
}

static int attach(struct collector *collector)
{
	_cleanup_free_ bool *online = calloc(MAX_CPUS, sizeof(*online));
	int err = online ? cpulist_online(online, MAX_CPUS) : -ENOMEM;

	if (!err)
		err = sideband_update_cpus(collector->sideband, online);
	for (int kind = 0; !err && kind < KIND_COUNT; kind++)
		err = sources[kind]->attach(&collector->bpf, online, &collector->states[kind]);
	return err;
}

static void on_cpus_changed(void *ctx)
{
	int err = attach(ctx);

	if (err)
		log_warning("CPUs changed, and some are not sampled: %s", strerror(-err));
}

static int load(struct collector *collector, const struct collector_config *from, char why[256])
{
	struct source_config config = {.sample_hz = from->sample_hz};
	_cleanup_free_ bool *online = calloc(MAX_CPUS, sizeof(*online));
	uint32_t online_count = 0;
	int err = online ? cpulist_online(online, MAX_CPUS) : -ENOMEM;

	if (err) {
		snprintf(why, 256, "cannot read which CPUs are online: %s", strerror(-err));
		return err;
	}
	for (size_t cpu = 0; cpu < MAX_CPUS; cpu++)
		online_count += online[cpu];
	err = bpf_open(&collector->bpf, online_count, from->sample_hz, why);
	if (err)
		return err;
	err = unwind_maps_size(&collector->bpf, from->unwind_bytes);
	if (err) {
		snprintf(why, 256, "cannot size the unwind tables: %s", strerror(-err));
		return err;
	}
	for (int kind = 0; kind < KIND_COUNT; kind++)
		sources[kind]->configure(&collector->bpf, &config, &collector->states[kind]);
	return bpf_load(&collector->bpf, why);
}

/* The process table knows more: so shall the walker. */
static void on_told(uint64_t told_mono_ns, void *ctx)
{
	struct collector *collector = ctx;

	unwinder_sync(collector->unwinder, told_mono_ns);
	pythons_sync(collector->python.pythons);
}

static int start_walkers(struct collector *collector, char why[256])
{
	int err = unwind_maps_open(&collector->bpf, &collector->unwind_memory);

	if (err) {
		snprintf(why, 256, "cannot map the unwind tables: %s", strerror(-err));
		return err;
	}
	collector->unwinder = unwinder_new(collector->loop, collector->procs, collector->store,
	                                   &collector->unwind_memory);
	if (!collector->unwinder)
		return -ENOMEM;
	err = python_open(&collector->python, &collector->bpf, collector->loop, collector->procs,
	                  collector->store);
	if (err)
		snprintf(why, 256, "cannot open the maps of Python: %s", strerror(-err));
	return err;
}

static void init_timer(struct collector *collector, uv_timer_t *timer)
{
	uv_timer_init(collector->loop, timer);
	timer->data = collector;
}

int collector_new(const struct collector_config *config, struct collector **ret_collector,
                  char ret_why[256])
{
	struct collector *collector = calloc(1, sizeof(*collector));
	int err;

	snprintf(ret_why, 256, "out of memory");
	if (!collector)
		return -ENOMEM;
	collector->loop = config->loop;
	collector->procs = config->procs;
	collector->store = config->store;
	collector->recorder = config->recorder;
	err = load(collector, config, ret_why);
	if (!err)
		err = start_walkers(collector, ret_why);
	if (!err)
		err = sideband_new(config->loop, config->procs, on_told, collector,
		                   &collector->sideband);
	if (err) {
		collector_free(collector);
		return err;
	}
	init_timer(collector, &collector->second);
	init_timer(collector, &collector->flip);
	init_timer(collector, &collector->settle);
	collector->span.period_ns = collector->states[KIND_cpu].value_unit;
	*ret_collector = collector;
	return 0;
}

int collector_start(struct collector *collector, char ret_why[256])
{
	int err;

	collector->next_start_mono_ns = clock_mono_ns();
	collector->next_start_wall_ns = clock_wall_ns();
	err = attach(collector);
	if (err) {
		snprintf(ret_why, 256,
		         "cannot open perf events (%s): run profd as root, or with CAP_PERFMON",
		         strerror(-err));
		return err;
	}
	if (bpf_watch_exec(&collector->bpf))
		log_warning("cannot watch processes call exec: the first stacks after one may be "
		            "wrong");
	if (hotplug_start(&collector->hotplug, collector->loop, on_cpus_changed, collector))
		log_warning("cannot watch CPUs come and go, keeping those there are");
	if (python_start(&collector->python, collector->loop))
		log_warning("cannot wait for Python's code objects: names of some may be lost");
	/* After the side-band is open, so that nothing starts unseen between the two. */
	procs_scan(collector->procs);
	on_told(collector->next_start_mono_ns, collector);
	return uv_timer_start(&collector->second, on_second, FIRST_DRAIN_MS, DRAIN_MS);
}

void collector_stop(struct collector *collector)
{
	for (int kind = 0; kind < KIND_COUNT; kind++)
		sources[kind]->detach(&collector->states[kind]);
	collector->waiting = NULL;
	collector->settling = NULL;
	bpf_unwatch_exec(&collector->bpf);
	unwinder_stop(collector->unwinder);
	python_stop(&collector->python);
	hotplug_stop(&collector->hotplug);
	sideband_stop(collector->sideband);
	uv_close((uv_handle_t *)&collector->second, NULL);
	uv_close((uv_handle_t *)&collector->flip, NULL);
	uv_close((uv_handle_t *)&collector->settle, NULL);
}

void collector_free(struct collector *collector)
{
	if (!collector)
		return;
	sideband_free(collector->sideband);
	unwinder_free(collector->unwinder);
	python_release(&collector->python);
	unwind_maps_close(&collector->unwind_memory);
	bpf_release(&collector->bpf);
	free(collector);
}

bool collector_ready(const struct collector *collector)
{
	return collector->ready;
}

void collector_get_stats(const struct collector *collector, struct collector_stats *ret_stats)
{
	*ret_stats = collector->stats;
	ret_stats->sideband_records = sideband_records(collector->sideband);
	ret_stats->sideband_lost = sideband_lost(collector->sideband);
	ret_stats->tallies_size = collector->bpf.tally_size;
	ret_stats->stacks_size = collector->bpf.stack_size;
	unwinder_get_stats(collector->unwinder, &ret_stats->unwinder);
	pythons_get_stats(collector->python.pythons, &ret_stats->pythons);
	python_codes_get_stats(collector->python.codes, &ret_stats->python_codes);
	ret_stats->map_bytes = bpf_map_bytes(&collector->bpf);
	ret_stats->cpus_sampled = collector->states[KIND_cpu].attached;
	ret_stats->event = collector->states[KIND_cpu].event;
}

bool collector_source(const struct collector *collector, size_t index,
                      struct source_status *ret_status)
{
	if (index >= KIND_COUNT)
		return false;
	ret_status->name = sources[index]->name;
	ret_status->on = collector->states[index].on;
	ret_status->why = collector->states[index].why;
	return true;
}
