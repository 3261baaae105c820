/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "encode/bound.h"

#include "base/cleanup.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
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
	MUCH_PART = 2,      /* all idle threads together do less than one part in so many */
	IDLE_PART = 10,     /* an idle thread does anything for less than one part in so many */
	CONTENDED_PART = 3, /* waits for others of its kind limit it from one part in so many on */
	NOT_KNOWN_PART = 3, /* as much must not be unknown */
};

struct thread {
	uint64_t all_ns, busy_ns;
	bool is_idle;
};

struct finding {
	const struct profile *profile;
	struct activities activities;
	uint8_t *what;       /* by sample: its activity */
	uint32_t *thread_of; /* by task: index of its thread */
	uint32_t *parents;   /* of all tasks' processes, sorted */
	struct thread *threads;
	uint32_t thread_count;
	struct bound *bound;
};

static uint64_t ns_of(const struct finding *finding, uint32_t sample)
{
	return finding->profile->samples[sample].values[finding->profile->shown];
}

static struct thread *thread_of(const struct finding *finding, uint32_t sample)
{
	uint32_t task = finding->profile->samples[sample].task;

	return &finding->threads[finding->thread_of[task]];
}

/* What an idle thread may do as much as it likes. */
static bool is_busy(enum activity activity)
{
	switch (activity) {
	case ACTIVITY_sleep:
	case ACTIVITY_stopped:
	case ACTIVITY_thread:
	case ACTIVITY_other:
	case ACTIVITY_unknown:
	case ACTIVITY_work:
		return false;
	default:
		return true;
	}
}

static int compare_ids(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Sorted by its first member. */
struct task_id {
	uint32_t tid, task;
};

/* Numbers the threads, which have a task for each state and label. */
static int number_threads(struct finding *finding)
{
	uint32_t count = finding->profile->task_count;
	_cleanup_free_ struct task_id *ids = calloc(count, sizeof(*ids));

	if (!ids)
		return -ENOMEM;
	for (uint32_t id = 0; id < count; id++)
		ids[id] = (struct task_id){finding->profile->tasks[id].tid, id};
	qsort(ids, count, sizeof(*ids), compare_ids);
	for (uint32_t i = 0; i < count; i++) {
		if (!i || ids[i].tid != ids[i - 1].tid)
			finding->thread_count++;
		finding->thread_of[ids[i].task] = finding->thread_count - 1;
	}
	return 0;
}

/* Finds the pids of processes that have children in the profile. */
static void find_parents(struct finding *finding)
{
	uint32_t count = finding->profile->task_count;

	for (uint32_t id = 0; id < count; id++)
		finding->parents[id] = finding->profile->tasks[id].parent;
	qsort(finding->parents, count, sizeof(*finding->parents), compare_ids);
}

/* Whether the thread waits for a child whose time is in the profile itself. */
static bool waits_for_child(const struct finding *finding, const struct task *task)
{
	const char *call = profile_string(finding->profile, task->wait);

	return (!strcmp(call, "wait4") || !strcmp(call, "other")) &&
	       bsearch(&task->pid, finding->parents, finding->profile->task_count,
	               sizeof(*finding->parents), compare_ids);
}

static void add_times(struct finding *finding)
{
	const struct profile *profile = finding->profile;

	for (uint32_t i = 1; i < profile->sample_count; i++) {
		const struct sample *sample = &profile->samples[i];
		struct thread *thread = thread_of(finding, i);
		enum activity what = activity_of(&finding->activities, profile, sample);

		if (what == ACTIVITY_process &&
		    waits_for_child(finding, &profile->tasks[sample->task]))
			what = ACTIVITY_work;
		finding->what[i] = (uint8_t)what;
		thread->all_ns += ns_of(finding, i);
		thread->busy_ns += is_busy(what) ? ns_of(finding, i) : 0;
	}
}

/* A thread that does little is left out, unless there are so many of them that they do much. */
static void judge_threads(struct finding *finding)
{
	struct bound *bound = finding->bound;
	uint64_t busy_ns = 0, idle_busy_ns = 0;

	for (uint32_t i = 0; i < finding->thread_count; i++) {
		struct thread *thread = &finding->threads[i];

		thread->is_idle = thread->busy_ns < thread->all_ns / IDLE_PART;
		busy_ns += thread->busy_ns;
		idle_busy_ns += thread->is_idle ? thread->busy_ns : 0;
		bound->threads += thread->all_ns > 0;
	}
	for (uint32_t i = 0; i < finding->thread_count; i++) {
		struct thread *thread = &finding->threads[i];

		if (idle_busy_ns >= busy_ns / MUCH_PART)
			thread->is_idle = false;
		bound->idle_threads += thread->is_idle && thread->all_ns;
		bound->idle_ns += thread->is_idle ? thread->all_ns : 0;
	}
}

static bool is_running(enum activity activity)
{
	return activity <= LAST_RUNNING;
}

static void add_up(struct finding *finding)
{
	const struct profile *profile = finding->profile;
	struct bound *bound = finding->bound;

	for (uint32_t i = 1; i < profile->sample_count; i++) {
		enum activity what = finding->what[i];

		bound->cpu_ns += is_running(what) ? ns_of(finding, i) : 0;
		if (thread_of(finding, i)->is_idle)
			continue;
		if (is_running(what))
			bound->ticks += profile->samples[i].values[0];
		else
			bound->waits += profile->samples[i].values[0];
		bound->ns[what] += ns_of(finding, i);
		if (kind_of[what] != BOUND_nothing)
			bound->total_ns += ns_of(finding, i);
	}
}

static bool is_contended(enum bound_kind kind)
{
	return kind == BOUND_contended_cpu || kind == BOUND_gil || kind == BOUND_lock;
}

/* The largest part, if all together is a tenth of a thread's time or more; but where threads wait
 * for each other for a third of the time, it is that, even if what they do in turn is larger. */
static enum bound_kind choose(const struct bound *bound, const uint64_t ns[BOUND_COUNT],
                              uint64_t duration_ns)
{
	uint64_t least = bound->total_ns / CONTENDED_PART;
	enum bound_kind kind = BOUND_nothing;

	if (bound->total_ns <= duration_ns / IDLE_PART)
		return BOUND_nothing;
	for (size_t i = 0; i < BOUND_nothing; i++)
		if (ns[i] && (kind == BOUND_nothing || ns[i] > ns[kind]))
			kind = (enum bound_kind)i;
	if (is_contended(kind))
		return kind;
	for (size_t i = 0; i < BOUND_nothing; i++)
		if (is_contended((enum bound_kind)i) && ns[i] >= least &&
		    (!is_contended(kind) || ns[i] > ns[kind]))
			kind = (enum bound_kind)i;
	return kind;
}

/* Samples of CPU time have to be enough where it is most of what limits. */
static bool is_unsure(const struct bound *bound)
{
	uint64_t running_ns = 0, known_ns = bound->total_ns + bound->ns[ACTIVITY_work];
	uint64_t unknown_ns = bound->ns[ACTIVITY_unknown];

	for (size_t i = 0; i <= LAST_RUNNING; i++)
		running_ns += kind_of[i] == bound->kind ? bound->ns[i] : 0;
	if (unknown_ns > (known_ns + unknown_ns) / NOT_KNOWN_PART)
		return true;
	if (bound->kind == BOUND_nothing)
		return false;
	return bound->ticks + (running_ns > bound->kind_ns / 2 ? 0 : bound->waits) <
	       BOUND_LEAST_SAMPLES;
}

static void judge(struct bound *bound, uint64_t duration_ns)
{
	uint64_t ns[BOUND_COUNT] = {0};

	for (size_t i = 0; i < ACTIVITY_COUNT; i++)
		ns[kind_of[i]] += bound->ns[i];
	bound->kind = choose(bound, ns, duration_ns);
	bound->kind_ns = bound->kind == BOUND_nothing ? 0 : ns[bound->kind];
	bound->is_unsure = is_unsure(bound);
}

static int find_places(struct finding *finding)
{
	const struct profile *profile = finding->profile;
	_cleanup_free_ uint32_t *samples = calloc(profile->sample_count, sizeof(*samples));
	_cleanup_free_ uint64_t *thread_ns =
		calloc((size_t)finding->thread_count + 1, sizeof(*thread_ns));
	struct hot_samples of = {
		.profile = profile,
		.samples = samples,
		.thread_of = finding->thread_of,
		.thread_ns = thread_ns,
		.thread_count = finding->thread_count,
	};

	if (!samples || !thread_ns)
		return -ENOMEM;
	for (uint32_t i = 1; i < profile->sample_count; i++) {
		enum bound_kind kind = kind_of[finding->what[i]];

		if (thread_of(finding, i)->is_idle || kind == BOUND_nothing)
			continue;
		thread_ns[finding->thread_of[profile->samples[i].task]] += ns_of(finding, i);
		if (kind == finding->bound->kind)
			samples[of.count++] = i;
	}
	return hot_places_find(&of, &finding->bound->places);
}

static int find(struct finding *finding)
{
	int err = number_threads(finding);

	if (!err)
		err = activities_find(finding->profile, &finding->activities);
	if (err)
		return err;
	find_parents(finding);
	add_times(finding);
	judge_threads(finding);
	add_up(finding);
	judge(finding->bound, finding->profile->duration_ns);
	if (finding->bound->kind == BOUND_nothing || finding->bound->is_unsure)
		return 0;
	return find_places(finding);
}

int bound_find(const struct profile *profile, struct bound *ret_bound)
{
	_cleanup_free_ uint8_t *what = calloc(profile->sample_count, sizeof(*what));
	_cleanup_free_ uint32_t *threads_of = calloc(profile->task_count, sizeof(*threads_of));
	_cleanup_free_ uint32_t *parents = calloc(profile->task_count, sizeof(*parents));
	_cleanup_free_ struct thread *threads = calloc(profile->task_count, sizeof(*threads));
	struct finding finding = {
		.profile = profile,
		.what = what,
		.thread_of = threads_of,
		.parents = parents,
		.threads = threads,
		.bound = ret_bound,
	};
	int err = -ENOMEM;

	*ret_bound = (struct bound){0};
	if (what && threads_of && parents && threads)
		err = find(&finding);
	activities_release(&finding.activities);
	return err;
}

void bound_release(struct bound *bound)
{
	hot_places_release(&bound->places);
}

/* The interval of Agresti and Coull, which is none of length 0 where all samples agree. */
double bound_error(const struct bound *bound, enum activity activity)
{
	double count = (double)bound->ticks + 4, part, running_ns = 0;

	for (size_t i = 0; i <= LAST_RUNNING; i++)
		running_ns += (double)bound->ns[i];
	if (!is_running(activity) || !running_ns || !bound->ticks)
		return 0;
	part = ((double)bound->ns[activity] / running_ns * (double)bound->ticks + 2) / count;
	return 1.96 * sqrt(part * (1 - part) / count) * running_ns / (double)bound->total_ns;
}

static double unknown_percent(const struct bound *bound)
{
	double unknown = (double)bound->ns[ACTIVITY_unknown];

	return 100 * unknown /
	       fmax(1, unknown + (double)bound->total_ns + (double)bound->ns[ACTIVITY_work]);
}

void bound_write_verdict(const struct bound *bound, struct buf *out)
{
	if (!bound->threads)
		buf_add_text(out, "Nothing known: no thread ran or waited");
	else if (bound->is_unsure)
		buf_printf(out,
		           "Not enough samples: %" PRIu64 " of CPU time, %" PRIu64
		           " waits; %.0f %% of the time is not known",
		           bound->ticks, bound->waits, unknown_percent(bound));
	else if (bound->kind == BOUND_nothing)
		buf_printf(out, "Bound by %s: %s", titles[bound->kind], whys[bound->kind]);
	else
		buf_printf(out, "Bound by %s: %s, %.1f %% of the working time", titles[bound->kind],
		           whys[bound->kind],
		           100.0 * (double)bound->kind_ns / (double)bound->total_ns);
}
