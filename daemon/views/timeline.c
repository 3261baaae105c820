/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * /timeline: when each process used the CPUs. The slices are taken on the loop thread; adding them
 * up is a job of the render lane.
 */
#include "views/cpu_timeline.h"

#include "base/clock.h"
#include "http/json.h"
#include "http/query_value.h"
#include "http/route.h"
#include "views/errand.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

enum { DEFAULT_TOP = 20 };

static const uint64_t default_length_ns = 600 * NSEC_PER_SEC;
static const uint64_t min_step_ns = NSEC_PER_SEC / 10;

const struct parameter cpu_timeline_parameters[] = {
	{"last", false, "how far back the answer goes: 30s, 5m ... (default 10m)"},
	{"step", false, "the length of a step, 100ms or more; at most 1200 steps (default 1s)"},
	{"pid", false, "answers with the threads of this process"},
	{"top", false, "the number of processes or threads, 1 to 100 (default 20)"},
	{NULL, false, NULL},
};

struct timeline_job {
	struct errand errand;
	struct cpu_timeline_query ask;
	struct cpu_timeline_span span;
	uint64_t wall_offset_ns; /* wall clock minus the span's monotonic clock */
	uint64_t oldest_mono_ns; /* the start of what is kept */
	uint32_t cpus;
	struct slices slices;
};

static void timeline_job_free(struct timeline_job *timeline)
{
	if (!timeline)
		return;
	slices_release(&timeline->slices);
	free(timeline);
}
DEFINE_CLEANUP(struct timeline_job *, timeline_job_free)

static struct timeline_job *timeline_job_of(struct errand *errand)
{
	return (struct timeline_job *)((char *)errand - offsetof(struct timeline_job, errand));
}

static void free_timeline(struct errand *errand)
{
	timeline_job_free(timeline_job_of(errand));
}

int cpu_timeline_query_read(const struct query *query, uint64_t keep_ns,
                            struct cpu_timeline_query *ret_ask, struct refusal *ret_refusal)
{
	struct cpu_timeline_query ask = {
		.length_ns = default_length_ns, .step_ns = NSEC_PER_SEC, .top = DEFAULT_TOP};
	uint64_t pid = 0, top = ask.top;
	int err = query_duration(query, "last", NSEC_PER_SEC, UINT64_MAX, &ask.length_ns,
	                         ret_refusal);

	if (!err)
		err = query_duration(query, "step", min_step_ns, UINT64_MAX, &ask.step_ns,
		                     ret_refusal);
	if (!err)
		err = query_number(query, "pid", 1, MAX_TASK_ID, &pid, ret_refusal);
	if (!err)
		err = query_number(query, "top", 1, MAX_TIMELINE_TOP, &top, ret_refusal);
	if (err)
		return err;
	ask.pid = (uint32_t)pid;
	ask.top = (uint32_t)top;
	if (ask.length_ns > keep_ns)
		ask.length_ns = keep_ns;
	/* With a longer step the first one that begins within this time might lie in the future. */
	if (ask.step_ns > ask.length_ns)
		return refuse(ret_refusal, MHD_HTTP_BAD_REQUEST,
		              "bad step=%.64s: a duration from 100ms to the whole time, %llus, is "
		              "accepted",
		              query_get(query, "step"), ask.length_ns / NSEC_PER_SEC);
	if (ask.length_ns / ask.step_ns >= MAX_TIMELINE_STEPS)
		return refuse(ret_refusal, MHD_HTTP_BAD_REQUEST,
		              "bad step=: at most %d steps are accepted; last=%llu requires steps "
		              "of %llums or more",
		              MAX_TIMELINE_STEPS, ask.length_ns / NSEC_PER_SEC,
		              ask.length_ns / MAX_TIMELINE_STEPS / (NSEC_PER_SEC / 1000) + 1);
	*ret_ask = ask;
	return 0;
}

/* Steps begin at multiples of their length by the wall clock, so that repeated requests get the
 * same steps. The last step is not over yet. */
static struct cpu_timeline_span span_of(const struct cpu_timeline_query *ask, uint64_t wall_ns,
                                        uint64_t wall_offset_ns)
{
	uint64_t from_ns = wall_ns - ask->length_ns;

	if (from_ns < wall_offset_ns)
		from_ns = wall_offset_ns; /* nothing is recorded before the boot */
	from_ns = (from_ns + ask->step_ns - 1) / ask->step_ns * ask->step_ns;
	return (struct cpu_timeline_span){
		.from_mono_ns = from_ns - wall_offset_ns,
		.step_ns = ask->step_ns,
		.steps = wall_ns > from_ns ? (wall_ns - from_ns) / ask->step_ns + 1 : 1,
	};
}

static json_t *numbers_json(const uint64_t *numbers, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_integer((json_int_t)numbers[i]));
	return list;
}

static json_t *row_json(const struct cpu_timeline_row *row, size_t steps)
{
	json_t *object = json_pack("{s:I, s:o, s:I, s:o}", "pid", (json_int_t)row->pid, "comm",
	                           json_text(row->name, strlen(row->name)), "total",
	                           (json_int_t)row->total, "cpu", numbers_json(row->cpu, steps));

	if (object && row->tid)
		json_object_set_new(object, "tid", json_integer((json_int_t)row->tid));
	return object;
}

static json_t *timeline_json(const struct timeline_job *job, const struct cpu_timeline *timeline)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < timeline->count; i++)
		json_array_append_new(rows, row_json(&timeline->rows[i], job->span.steps));
	return json_pack("{s:I, s:I, s:I, s:I, s:o, s:o}", "from_unix_ms",
	                 (json_int_t)((job->span.from_mono_ns + job->wall_offset_ns) / 1000000),
	                 "step_ms", (json_int_t)(job->span.step_ns / 1000000), "oldest_unix_ms",
	                 (json_int_t)((job->oldest_mono_ns + job->wall_offset_ns) / 1000000),
	                 "cpus", (json_int_t)job->cpus, job->ask.pid ? "threads" : "processes",
	                 rows, "other", numbers_json(timeline->other, job->span.steps));
}

/* Worker thread. */
static int run_timeline(struct errand *errand)
{
	struct timeline_job *timeline = timeline_job_of(errand);
	struct cpu_timeline built;
	int err = cpu_timeline_build(&timeline->ask, &timeline->span, timeline->slices.profiles,
	                             timeline->slices.count, &built);

	if (err)
		return err;
	err = json_write_compact(timeline_json(timeline, &built), &errand->body);
	cpu_timeline_release(&built);
	return err;
}

static int take_slices(struct errand *errand, const struct service *service)
{
	struct timeline_job *timeline = timeline_job_of(errand);
	struct collector_stats collected;
	struct recorder_stats recorded;
	struct recorder *recorder = history_recorder(service->history, KIND_cpu);
	uint64_t wall_ns = clock_wall_ns();

	timeline->wall_offset_ns = wall_ns - clock_mono_ns();
	timeline->span = span_of(&timeline->ask, wall_ns, timeline->wall_offset_ns);
	collector_get_stats(service->collector, &collected);
	timeline->cpus = collected.cpus_sampled;
	recorder_get_stats(recorder, &recorded);
	timeline->oldest_mono_ns =
		recorded.oldest_mono_ns ? recorded.oldest_mono_ns : service->start_mono_ns;
	return recorder_read(recorder, timeline->span.from_mono_ns, UINT64_MAX, &timeline->slices);
}

void handle_timeline(struct request *request)
{
	_cleanup_(timeline_job_freep) struct timeline_job *timeline = calloc(1, sizeof(*timeline));
	struct refusal refusal;
	int err = timeline ? cpu_timeline_query_read(&request->query, request->service->keep_ns,
	                                             &timeline->ask, &refusal)
	                   : -ENOMEM;

	if (err == -EINVAL) {
		request_refuse(request, &refusal);
		return;
	}
	if (err) {
		request_fail(request, err);
		return;
	}
	timeline->errand.content_type = "application/json";
	timeline->errand.gather = take_slices;
	timeline->errand.run = run_timeline;
	timeline->errand.free = free_timeline;
	errand_start(&TAKE_PTR(timeline)->errand, request);
}
