/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * /tasks: what the asynchronous tasks of a process are doing now, as one reading of its memory
 * finds them. That is made aside, on the lane of command lines.
 */
#include "base/aside.h"
#include "base/clock.h"
#include "collect/collector.h"
#include "http/json.h"
#include "http/query_value.h"
#include "http/route.h"
#include "runtimes/runtimes.h"
#include "views/errand.h"
#include "views/process_id.h"
#include "views/task_groups.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

/* A reading takes some milliseconds, but a busy host may not run it sooner. */
static const uint64_t patience_ns = 500 * NSEC_PER_MSEC;

struct task_reading {
	struct aside_call call;
	struct runtime_tasks_plan plan;
	struct runtime_tasks tasks;
	int err;
};

struct tasks_job {
	struct errand errand;
	struct aside *aside;
	const struct collector *collector;
	uint32_t pid;
	bool json;
	const char *why; /* there can be no reading; NULL: there can */
	struct runtime_version version;
	struct task_reading *reading;
};

static void free_reading(struct aside_call *call)
{
	struct task_reading *reading = (struct task_reading *)call;

	runtime_tasks_release(&reading->tasks);
	free(reading);
}

static struct tasks_job *job_of(struct errand *errand)
{
	return (struct tasks_job *)((char *)errand - offsetof(struct tasks_job, errand));
}

static void free_job(struct errand *errand)
{
	struct tasks_job *job = job_of(errand);

	if (job->reading)
		free_reading(&job->reading->call);
	free(job);
}

/* On the thread aside. */
static void read_tasks(struct aside_call *call)
{
	struct task_reading *reading = (struct task_reading *)call;

	reading->err = runtime_tasks_read(&reading->plan, &reading->tasks);
}

static int write_tasks(struct tasks_job *job)
{
	const struct runtime_tasks *tasks = &job->reading->tasks;
	_cleanup_(task_groups_release) struct task_groups groups;
	struct buf *out = &job->errand.body;
	char version[RUNTIME_VERSION_BYTES];
	int err = task_groups_make(tasks, &groups);

	if (err)
		return err;
	runtime_version_text(&job->version, version);
	if (job->json && out->max && task_groups_bytes(&groups) > out->max)
		return -EFBIG;
	if (job->json)
		return json_write(
			json_pack("{s:I, s:s, s:s, s:I, s:I, s:b, s:o}", "pid",
		                  (json_int_t)job->pid, "runtime", job->version.runtime->name,
		                  "runtime_version", version, "tasks", (json_int_t)tasks->count,
		                  "left_out", (json_int_t)tasks->left_out, "incomplete",
		                  tasks->is_incomplete, "groups", task_groups_json(&groups)),
			out);
	buf_printf(out, "%" PRIu32 " task%s of process %" PRIu32 ", %s %s", tasks->count,
	           tasks->count == 1 ? "" : "s", job->pid, job->version.runtime->name, version);
	if (tasks->left_out)
		buf_printf(out, "; up to %" PRIu32 " more are left out", tasks->left_out);
	if (tasks->is_incomplete)
		buf_add_text(out, "; not all could be read");
	buf_add_char(out, '\n');
	task_groups_text(&groups, out);
	return buf_error(out);
}

static int refuse_process(struct tasks_job *job)
{
	if (process_of(job->pid) != job->pid)
		return refuse(&job->errand.refusal, MHD_HTTP_NOT_FOUND,
		              "no process %" PRIu32 " is running", job->pid);
	return refuse(&job->errand.refusal, MHD_HTTP_NOT_FOUND,
	              "process %" PRIu32 " has no tasks that profd can read: %s", job->pid,
	              job->why);
}

/* Worker thread. */
static int run_job(struct errand *errand)
{
	struct tasks_job *job = job_of(errand);
	int err;

	if (job->why)
		return refuse_process(job);
	err = aside_run(job->aside, &job->reading->call, patience_ns);
	if (err == -ETIMEDOUT)
		job->reading = NULL;
	if (err)
		return refuse(&errand->refusal, MHD_HTTP_SERVICE_UNAVAILABLE,
		              "the memory of process %" PRIu32
		              " is not read: it takes too long, or did lately; try again",
		              job->pid);
	err = collector_check_tasks(job->collector, &job->reading->plan);
	if (err == -EAGAIN)
		return refuse(&errand->refusal, MHD_HTTP_SERVICE_UNAVAILABLE,
		              "process %" PRIu32 " may run another program now; try again",
		              job->pid);
	if (err == -ESRCH || job->reading->err == -ESRCH)
		return refuse(&errand->refusal, MHD_HTTP_NOT_FOUND, "process %" PRIu32 " has ended",
		              job->pid);
	return job->reading->err ?: write_tasks(job);
}

/* Collects the data that belongs to the loop thread. */
static int gather(struct errand *errand, const struct service *service)
{
	struct tasks_job *job = job_of(errand);
	struct runtime_tasks_plan *plan = &job->reading->plan;

	job->collector = service->collector;
	job->version = runtimes_of(collector_runtimes(service->collector), job->pid);
	job->why = collector_plan_tasks(service->collector, job->pid, plan);
	job->reading->call = (struct aside_call){
		.owner = plan->owner, .pid = job->pid, .run = read_tasks, .free = free_reading};
	return 0;
}

static int read_ask(const struct query *query, struct tasks_job *job, struct refusal *ret_refusal)
{
	const char *format = query_get(query, "format");
	int err = query_pid(query, &job->pid, ret_refusal);

	job->json = format && !strcmp(format, "json");
	if (!err && format && !job->json && strcmp(format, "text") != 0)
		return refuse(ret_refusal, MHD_HTTP_BAD_REQUEST,
		              "bad format=%.64s: text or json is accepted", format);
	return err;
}

void handle_tasks(struct request *request)
{
	struct tasks_job *job = calloc(1, sizeof(*job));
	struct refusal refusal;
	int err = -ENOMEM;

	if (job)
		job->reading = calloc(1, sizeof(*job->reading));
	if (job && job->reading)
		err = read_ask(&request->query, job, &refusal);
	if (err) {
		if (err == -EINVAL)
			request_refuse(request, &refusal);
		else
			request_fail(request, err);
		if (job)
			free_job(&job->errand);
		return;
	}
	job->aside = request->service->tasks_aside;
	job->errand.content_type = job->json ? "application/json" : "text/plain; charset=utf-8";
	job->errand.lane = request->service->cmdlines;
	job->errand.gather = gather;
	job->errand.run = run_job;
	job->errand.free = free_job;
	errand_start(&job->errand, request);
}
