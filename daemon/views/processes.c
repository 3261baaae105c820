/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * /processes: the processes and their CPU time, from the samples of the last minute. JSON, busiest
 * first; format=text: the same as a table. Made on separate lanes, where it does not wait for
 * profiles to be rendered.
 */
#include "base/clock.h"
#include "http/admission.h"
#include "http/route.h"
#include "profile/held.h"
#include "runtimes/tasks.h"
#include "views/errand.h"
#include "views/process_list.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

static const uint64_t look_back_ns = 60 * NSEC_PER_SEC;

struct processes_job {
	struct errand errand;
	struct process_list list;
	struct held held; /* the list's memory */
};

static void processes_job_free(struct processes_job *job)
{
	if (job) {
		process_list_release(&job->list);
		held_give(&job->held);
	}
	free(job);
}
DEFINE_CLEANUP(struct processes_job *, processes_job_free)

static struct processes_job *job_of(struct errand *errand)
{
	return (struct processes_job *)((char *)errand - offsetof(struct processes_job, errand));
}

static void free_job(struct errand *errand)
{
	processes_job_free(job_of(errand));
}

/* Worker thread. */
static int run_job(struct errand *errand)
{
	return process_list_write(&job_of(errand)->list, &errand->body);
}

static void add_runtimes(struct process_list *list, const struct collector *collector)
{
	for (size_t i = 0; i < list->count; i++) {
		struct process_row *row = &list->rows[i];
		struct runtime_tasks_plan plan;

		row->runtime = runtimes_of(collector_runtimes(collector), row->pid);
		row->has_tasks =
			row->runtime.runtime && !collector_plan_tasks(collector, row->pid, &plan);
	}
}

/* Collects the data that belongs to the loop thread. */
static int collect(struct errand *errand, const struct service *service)
{
	struct process_list *list = &job_of(errand)->list;
	const struct timeline *timeline =
		memory_watch_timeline(collector_memory(service->collector));
	uint64_t now_ns = clock_mono_ns();
	struct source_status waits;
	uint64_t from_ns = now_ns > look_back_ns ? now_ns - look_back_ns : 0;
	int err = process_list_collect(list, service->procs, timeline);

	if (!err)
		err = held_take(&job_of(errand)->held, errand->turn.account,
		                list->capacity * sizeof(*list->rows));
	if (!err)
		err = recorder_read(history_recorder(service->history, KIND_cpu), from_ns, now_ns,
		                    &list->slices);
	add_runtimes(list, service->collector);
	collector_source(service->collector, KIND_offcpu, &waits);
	if (!err && waits.on)
		err = recorder_read(history_recorder(service->history, KIND_offcpu), from_ns,
		                    now_ns, &list->waits);
	return err;
}

static int read_ask(struct request *request, struct process_list *list, struct refusal *ret_refusal)
{
	const char *cmdline = query_get(&request->query, "cmdline");
	const char *format = query_get(&request->query, "format");

	list->text = format && !strcmp(format, "text");
	if (cmdline && !strcmp(cmdline, "1"))
		list->cmdlines = request->service->aside;
	if (format && !list->text && strcmp(format, "json") != 0)
		return refuse(ret_refusal, MHD_HTTP_BAD_REQUEST,
		              "bad format=%.64s: json or text is accepted", format);
	if (cmdline && !list->cmdlines && strcmp(cmdline, "0") != 0)
		return refuse(ret_refusal, MHD_HTTP_BAD_REQUEST,
		              "bad cmdline=%.64s: 0 or 1 is accepted", cmdline);
	if (!list->cmdlines)
		return 0;
	return admit_private(request, "profd shows command lines, which may contain secrets,",
	                     ret_refusal);
}

void handle_processes(struct request *request)
{
	_cleanup_(processes_job_freep) struct processes_job *job = calloc(1, sizeof(*job));
	struct refusal refusal;
	int err = -ENOMEM;

	if (job)
		err = read_ask(request, &job->list, &refusal);
	if (err == -EINVAL) {
		request_refuse(request, &refusal);
		return;
	}
	if (err) {
		request_fail(request, err);
		return;
	}
	job->errand.content_type =
		job->list.text ? "text/plain; charset=utf-8" : "application/json";
	job->errand.lane =
		job->list.cmdlines ? request->service->cmdlines : request->service->processes;
	job->errand.gather = collect;
	job->errand.run = run_job;
	job->errand.free = free_job;
	errand_start(&TAKE_PTR(job)->errand, request);
}
