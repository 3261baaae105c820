/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * /memory: how much memory one process holds and held, whether it leaks, and the stacks that made
 * it grow. The timeline's data is copied at once; then PSS is read (memory/pss.h), if requested;
 * the rest is a job of the render lane.
 */
#include "base/clock.h"
#include "http/json.h"
#include "http/query_value.h"
#include "http/route.h"
#include "memory/pss.h"
#include "memory/timeline_copy.h"
#include "profile/history.h"
#include "views/errand.h"
#include "views/memory_points.h"
#include "views/memory_stacks.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

struct memory_ask {
	uint32_t pid;
	uint64_t last_ns;
	bool pss, pss_now; /* requested; and to be read */
};

struct memory_job {
	struct errand errand;
	struct symbolizer *symbolizer;
	struct memory_ask ask;
	struct pss_ask pss;
	json_t *pss_bytes;    /* NULL: not requested */
	const char *pss_note; /* why `pss_bytes` is not known; or NULL */
	struct selection selection;
	struct slices slices;
	struct timeline_copy past;
	uint64_t from_ms; /* earlier points are left out */
};

static void memory_job_free(struct memory_job *memory)
{
	if (!memory)
		return;
	slices_release(&memory->slices);
	timeline_copy_release(&memory->past);
	json_decref(memory->pss_bytes);
	free(memory);
}
DEFINE_CLEANUP(struct memory_job *, memory_job_free)

static struct memory_job *memory_job_of(struct errand *errand)
{
	return (struct memory_job *)((char *)errand - offsetof(struct memory_job, errand));
}

static void free_memory(struct errand *errand)
{
	memory_job_free(memory_job_of(errand));
}

static int add_pss(struct memory_job *memory, json_t *answer)
{
	json_t *bytes = memory->pss_bytes;

	memory->pss_bytes = NULL;
	if (bytes && json_object_set_new(answer, "pss_bytes", bytes))
		return -ENOMEM;
	if (memory->pss_note &&
	    json_object_set_new(answer, "pss_error", json_string(memory->pss_note)))
		return -ENOMEM;
	return 0;
}

static json_t *timeline_json(const struct timeline_process *process, uint64_t from_ms)
{
	uint64_t wall_ms = (clock_wall_ns() - clock_mono_ns()) / NSEC_PER_MSEC;

	return json_pack("{s:I, s:o, s:b, s:i, s:o, s:o, s:o, s:o}", "pid",
	                 (json_int_t)process->pid, "comm",
	                 json_text(process->comm, strlen(process->comm)), "ended", process->ended,
	                 "interval_ms", MEMORY_WATCH_MS, "fields", memory_fields_json(), "points",
	                 memory_points_json(process, from_ms, wall_ms), "control_group",
	                 memory_group_json(process->group), "growth",
	                 memory_growth_json(&process->track.growth, wall_ms));
}

/* Worker thread. */
static int run_memory(struct errand *errand)
{
	struct memory_job *memory = memory_job_of(errand);
	json_t *stacks = NULL, *answer;
	int err = memory_stacks_json(memory->symbolizer, memory->slices.profiles,
	                             memory->slices.count, &memory->selection, errand->body.max,
	                             &stacks);

	if (err)
		return err;
	answer = timeline_json(&memory->past.process, memory->from_ms);
	if (json_object_set_new(answer, "growing_stacks", stacks) || add_pss(memory, answer)) {
		json_decref(answer);
		return -ENOMEM;
	}
	return json_write(answer, &errand->body);
}

static int read_query(const struct query *query, uint64_t keep_ns, struct memory_ask *ask,
                      struct refusal *ret_refusal)
{
	int err;

	*ask = (struct memory_ask){.last_ns = keep_ns};
	err = query_pid(query, &ask->pid, ret_refusal);
	if (!err)
		err = query_duration(query, "last", NSEC_PER_SEC, keep_ns, &ask->last_ns,
		                     ret_refusal);
	if (!err)
		err = query_switch(query, "pss", &ask->pss, ret_refusal);
	return err;
}

/* Collects the data that belongs to the loop thread. */
static int gather(struct errand *errand, const struct service *service)
{
	struct memory_job *memory = memory_job_of(errand);
	struct memory_watch *watch = collector_memory(service->collector);
	const struct timeline_process *process =
		timeline_find(memory_watch_timeline(watch), memory->ask.pid);
	uint64_t now_ns = clock_mono_ns();
	uint64_t from_ns = now_ns > memory->ask.last_ns ? now_ns - memory->ask.last_ns : 0;
	int err;

	if (!process)
		return refuse(&errand->refusal, MHD_HTTP_NOT_FOUND,
		              "no process %" PRIu32
		              " is known; GET /processes lists the running ones",
		              memory->ask.pid);
	/* A client that asked once may ask again, so the process is read again soon. */
	memory_watch_note(watch, process->pid);
	memory->ask.pss_now = memory->ask.pss && !process->ended;
	if (memory->ask.pss)
		memory->pss_bytes = json_null();
	memory->selection.pids[0] = process->pid;
	memory->selection.pid_count = 1;
	memory->from_ms = from_ns / NSEC_PER_MSEC;
	err = timeline_copy(process, &memory->past);
	if (err)
		return err;
	return recorder_read(history_recorder(service->history, KIND_rss), from_ns, now_ns,
	                     &memory->slices);
}

static void note_pss(struct memory_job *memory, int err)
{
	struct request *request = memory->errand.request;

	if (err == -ETIMEDOUT)
		memory->pss_note = "the process's memory could not be read within 2 seconds";
	else if (err == -EAGAIN)
		memory->pss_note = "too many processes of this user are being read; try again";
	if (request && memory->pss_note)
		request->parking->stats.pss_missed++;
}

static void on_pss(struct pss_ask *ask, int err, uint64_t bytes)
{
	struct memory_job *memory =
		(struct memory_job *)((char *)ask - offsetof(struct memory_job, pss));

	if (err)
		note_pss(memory, err);
	else
		memory->pss_bytes = json_integer((json_int_t)bytes);
	errand_submit(&memory->errand);
}

/* The request is suspended meanwhile, so no other request waits for PSS. */
static void start_pss(struct memory_job *memory, struct request *request)
{
	int err;

	memory->pss = (struct pss_ask){.pid = memory->ask.pid, .done = on_pss};
	err = pss_reader_ask(request->service->pss, &memory->pss);
	if (err)
		on_pss(&memory->pss, err, 0);
}

static void start(struct memory_job *memory, struct request *request)
{
	if (errand_park(&memory->errand, request))
		return;
	if (memory->ask.pss_now)
		start_pss(memory, request);
	else
		errand_submit(&memory->errand);
}

void handle_memory(struct request *request)
{
	_cleanup_(memory_job_freep) struct memory_job *memory = calloc(1, sizeof(*memory));
	const struct service *service = request->service;
	struct refusal refusal;
	int err = -ENOMEM;

	if (memory)
		err = read_query(&request->query, service->keep_ns, &memory->ask, &refusal);
	if (err == -EINVAL) {
		request_refuse(request, &refusal);
		return;
	}
	if (err) {
		request_fail(request, err);
		return;
	}
	memory->symbolizer = service->symbolizer;
	memory->errand.content_type = "application/json";
	memory->errand.gather = gather;
	memory->errand.run = run_memory;
	memory->errand.free = free_memory;
	start(TAKE_PTR(memory), request);
}
