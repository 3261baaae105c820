/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "encode/bound.h"

#include "profile/builder.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define BOUND(name, title, why) #name,
const char *const bound_names[] = {BOUNDS(BOUND)};
#undef BOUND
#define BOUND(name, title, why) title,
static const char *const titles[] = {BOUNDS(BOUND)};
#undef BOUND
#define BOUND(name, title, why) why,
static const char *const whys[] = {BOUNDS(BOUND)};
#undef BOUND

#define ACTIVITY(name, title, bound) BOUND_##bound,
static const enum bound_kind kind_of[] = {ACTIVITIES(ACTIVITY)};
#undef ACTIVITY

enum {
	IDLE_PART = 10,    /* an idle thread does anything for less than one part in so many */
	CONTENDED_PART = 3 /* waits for others of its kind limit it from one part in so many on */
};

/* A thread's time, or that of one of its tasks. */
struct thread_time {
	uint32_t tid, task;
	uint64_t all_ns, busy_ns;
};

struct finding {
	const struct profile *profile;
	struct activities activities;
	uint8_t *what;               /* by sample: its activity */
	bool *is_idle;               /* by task: its thread is idle */
	struct thread_time *threads; /* by task, then sorted by thread */
	struct bound *bound;
};

static uint64_t ns_of(const struct finding *finding, uint32_t sample)
{
	return finding->profile->samples[sample].values[finding->profile->shown];
}

static bool is_running(enum activity activity)
{
	return activity <= ACTIVITY_disk_code;
}

static bool is_busy(enum activity activity)
{
	switch (activity) {
	case ACTIVITY_sleep:
	case ACTIVITY_stopped:
	case ACTIVITY_unknown:
	case ACTIVITY_work:
		return false;
	default:
		return true;
	}
}

static int compare_tids(const void *left, const void *right)
{
	const struct thread_time *a = left, *b = right;

	return (a->tid > b->tid) - (a->tid < b->tid);
}

static void add_times(struct finding *finding)
{
	const struct profile *profile = finding->profile;

	for (uint32_t id = 0; id < profile->task_count; id++)
		finding->threads[id] =
			(struct thread_time){.tid = profile->tasks[id].tid, .task = id};
	for (uint32_t i = 1; i < profile->sample_count; i++) {
		struct thread_time *thread = &finding->threads[profile->samples[i].task];

		finding->what[i] =
			(uint8_t)activity_of(&finding->activities, profile, &profile->samples[i]);
		thread->all_ns += ns_of(finding, i);
		if (is_busy(finding->what[i]))
			thread->busy_ns += ns_of(finding, i);
	}
	qsort(finding->threads, profile->task_count, sizeof(*finding->threads), compare_tids);
}

/* Judges one thread, whose tasks are threads[first ... end]. */
static void judge_thread(struct finding *finding, uint32_t first, uint32_t end)
{
	uint64_t all_ns = 0, busy_ns = 0;
	bool is_idle;

	for (uint32_t i = first; i < end; i++) {
		all_ns += finding->threads[i].all_ns;
		busy_ns += finding->threads[i].busy_ns;
	}
	if (!all_ns)
		return;
	is_idle = busy_ns < all_ns / IDLE_PART;
	for (uint32_t i = first; i < end; i++)
		finding->is_idle[finding->threads[i].task] = is_idle;
	finding->bound->threads++;
	finding->bound->idle_threads += is_idle;
	finding->bound->idle_ns += is_idle ? all_ns : 0;
}

static void judge_threads(struct finding *finding)
{
	uint32_t count = finding->profile->task_count, first = 0;
	struct bound *bound = finding->bound;

	for (uint32_t i = 1; i <= count; i++) {
		if (i < count && finding->threads[i].tid == finding->threads[first].tid)
			continue;
		judge_thread(finding, first, i);
		first = i;
	}
	if (bound->idle_threads < bound->threads)
		return;
	memset(finding->is_idle, 0, count * sizeof(*finding->is_idle));
	bound->idle_threads = 0;
	bound->idle_ns = 0;
}

static void add_up(struct finding *finding)
{
	const struct profile *profile = finding->profile;
	struct bound *bound = finding->bound;

	for (uint32_t i = 1; i < profile->sample_count; i++) {
		const struct sample *sample = &profile->samples[i];
		enum activity what = finding->what[i];

		if (is_running(what))
			bound->cpu_ns += ns_of(finding, i);
		else
			bound->waits += sample->values[0];
		if (finding->is_idle[sample->task])
			continue;
		if (is_running(what))
			bound->ticks += sample->values[0];
		if (what == ACTIVITY_work) {
			bound->work_ns += ns_of(finding, i);
			continue;
		}
		bound->ns[what] += ns_of(finding, i);
		bound->total_ns += ns_of(finding, i);
	}
}

static bool is_contended(enum bound_kind kind)
{
	return kind == BOUND_contended_cpu || kind == BOUND_gil || kind == BOUND_lock;
}

/* The largest part; but where threads wait for each other for a third of the time, it is that, even
 * if what they do in turn is larger. */
static void judge(struct bound *bound)
{
	uint64_t ns[BOUND_COUNT] = {0}, least = bound->total_ns / CONTENDED_PART;
	enum bound_kind kind = BOUND_nothing;

	for (size_t i = 0; i < ACTIVITY_COUNT; i++)
		ns[kind_of[i]] += bound->ns[i];
	if (bound->total_ns > (bound->work_ns + bound->total_ns) / IDLE_PART)
		for (size_t i = 0; i < BOUND_COUNT; i++)
			if (ns[i] > ns[kind])
				kind = (enum bound_kind)i;
	if (kind != BOUND_nothing && !is_contended(kind))
		for (size_t i = 0; i < BOUND_COUNT; i++)
			if (is_contended((enum bound_kind)i) && ns[i] >= least &&
			    (!is_contended(kind) || ns[i] > ns[kind]))
				kind = (enum bound_kind)i;
	bound->kind = kind;
	bound->kind_ns = ns[kind];
	bound->is_unsure =
		(kind == BOUND_cpu || kind == BOUND_faults) && bound->ticks < BOUND_LEAST_TICKS;
}

static int find_places(struct finding *finding)
{
	const struct profile *profile = finding->profile;
	_cleanup_(builder_freep) struct builder *names = builder_new();
	/* There is no more than one string for each sample, and "". */
	_cleanup_free_ uint64_t *ns = calloc((size_t)profile->sample_count + 1, sizeof(*ns));
	_cleanup_(buf_release) struct buf text = BUF_INIT;

	if (!names || !ns)
		return -ENOMEM;
	for (uint32_t i = 1; i < profile->sample_count; i++) {
		if (finding->is_idle[profile->samples[i].task] ||
		    kind_of[finding->what[i]] != finding->bound->kind)
			continue;
		buf_clear(&text);
		hot_places_write(profile, profile->samples[i].node, &text);
		ns[builder_text(names, buf_text(&text))] += ns_of(finding, i);
	}
	return builder_error(names)
	               ?: hot_places_keep(&finding->bound->places, builder_view(names), ns);
}

int bound_find(const struct profile *profile, struct bound *ret_bound)
{
	_cleanup_free_ uint8_t *what = calloc(profile->sample_count, sizeof(*what));
	_cleanup_free_ bool *is_idle = calloc(profile->task_count, sizeof(*is_idle));
	_cleanup_free_ struct thread_time *threads = calloc(profile->task_count, sizeof(*threads));
	struct finding finding = {
		.profile = profile,
		.what = what,
		.is_idle = is_idle,
		.threads = threads,
		.bound = ret_bound,
	};
	int err = -ENOMEM;

	*ret_bound = (struct bound){0};
	if (what && is_idle && threads)
		err = activities_find(profile, &finding.activities);
	if (!err) {
		add_times(&finding);
		judge_threads(&finding);
		add_up(&finding);
		judge(ret_bound);
		err = ret_bound->kind == BOUND_nothing ? 0 : find_places(&finding);
	}
	activities_release(&finding.activities);
	return err;
}

double bound_error(const struct bound *bound, enum activity activity)
{
	uint64_t running_ns = 0;
	double part;

	for (size_t i = 0; i < ACTIVITY_COUNT; i++)
		running_ns += is_running((enum activity)i) ? bound->ns[i] : 0;
	if (!is_running(activity) || !running_ns || !bound->ticks || !bound->total_ns)
		return 0;
	part = (double)bound->ns[activity] / (double)running_ns;
	return 1.96 * sqrt(part * (1 - part) / (double)bound->ticks) * (double)running_ns /
	       (double)bound->total_ns;
}

double bound_gain(const struct bound *bound, uint64_t ns)
{
	return ns < bound->total_ns ? (double)bound->total_ns / (double)(bound->total_ns - ns)
	                            : INFINITY;
}

void bound_release(struct bound *bound)
{
	hot_places_release(&bound->places);
}

void bound_write_verdict(const struct bound *bound, struct buf *out)
{
	if (!bound->threads)
		buf_add_text(out, "Bound by nothing: no thread ran or waited");
	else if (bound->is_unsure)
		buf_printf(out, "Not enough samples: %" PRIu64 " of CPU time, %d are needed",
		           bound->ticks, BOUND_LEAST_TICKS);
	else if (bound->kind == BOUND_nothing)
		buf_printf(out, "Bound by nothing: %s", whys[bound->kind]);
	else
		buf_printf(out, "Bound by %s: %s, %.1f %% of the working time", titles[bound->kind],
		           whys[bound->kind],
		           100.0 * (double)bound->kind_ns / (double)bound->total_ns);
}
