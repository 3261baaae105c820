/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One job at a time: it asks the reader process, or ends it if it is idle. The end of the job
 * answers all requests that wait by then.
 */
#include "gpu/nvml.h"

#include "base/clean.h"
#include "base/clock.h"
#include "base/lane.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

enum { NICENESS = 5 };

static const uint64_t max_bytes = 256ULL << 20; /* the library of driver 550 takes some 10 MiB */
static const uint64_t deadline_ns = 5 * NSEC_PER_SEC; /* a sleeping device takes a while to wake */
static const uint64_t good_ns = NSEC_PER_SEC;
static const uint64_t bad_ns = 60 * NSEC_PER_SEC;
static const uint64_t idle_ns = 60 * NSEC_PER_SEC;

struct nvml {
	struct lane *lane;
	struct reader *reader;
	struct job job;
	bool working, resting, started, stopped;
	struct nvml_wait *waiting;
	uint64_t answered_ns; /* 0: never */
	int err;
	struct nvml_report report; /* good when `err` is 0 */
	/* Owned by the job. */
	int fresh_err;
	struct nvml_report fresh;
};

static struct nvml *nvml_of(struct job *job)
{
	return (struct nvml *)((char *)job - offsetof(struct nvml, job));
}

static int check(const uint8_t *bytes, size_t len, void *ctx)
{
	(void)ctx;
	return nvml_report_check(bytes, len);
}

static int ask_process(struct nvml *nvml)
{
	/* A failure is remembered by `file`, which changes each minute: unlike a file, a driver may
	 * work later. */
	const struct reader_query query = {
		.question = {.job = READER_NVML, .fds = {-1, -1, -1}},
		.file = clock_mono_ns() / bad_ns,
		.check = check,
	};
	struct reader_reply reply;
	int err = reader_ask(nvml->reader, &query, &reply);

	if (err)
		return err;
	memcpy(&nvml->fresh, reply.bytes, sizeof(nvml->fresh));
	free(reply.bytes);
	/* Text from the library that may be shown on a terminal. */
	clean_text(nvml->fresh.why);
	return 0;
}

/* Worker thread. */
static void run(struct job *job)
{
	struct nvml *nvml = nvml_of(job);

	if (nvml->resting) {
		reader_rest(nvml->reader, idle_ns);
		return;
	}
	nvml->fresh_err = ask_process(nvml);
	/* Without an answer the reader process is ended. A library whose driver was reloaded works
	 * again only in a new process, too. */
	if (nvml->fresh_err || nvml->fresh.why[0])
		reader_rest(nvml->reader, 0);
}

static const char *why(const struct nvml *nvml)
{
	switch (nvml->err) {
	case 0:
		return nvml->report.why;
	case -ENOENT:
		return "this host has no libnvidia-ml.so.1";
	case -EIO:
		return "libnvidia-ml.so.1 did not answer in time, or crashed";
	case -ECHILD:
		return "profd cannot start the process that calls libnvidia-ml.so.1";
	default:
		return strerror(-nvml->err);
	}
}

static void tell(const struct nvml *nvml, struct nvml_wait *wait)
{
	wait->done(wait, nvml->err || nvml->report.why[0] ? NULL : &nvml->report, why(nvml));
}

static bool is_good(const struct nvml *nvml)
{
	uint64_t age_ns = clock_mono_ns() - nvml->answered_ns;

	return nvml->answered_ns && age_ns < (nvml->err ? bad_ns : good_ns);
}

static void on_done(struct job *job);

static void submit(struct nvml *nvml, bool resting)
{
	nvml->resting = resting;
	nvml->fresh_err = -ECANCELED;
	nvml->job = (struct job){.run = run, .done = on_done};
	nvml->working = lane_submit(nvml->lane, &nvml->job) == 0;
	nvml->started |= nvml->working;
}

static void tell_all(struct nvml *nvml)
{
	struct nvml_wait *wait = nvml->waiting;

	nvml->waiting = NULL;
	while (wait) {
		struct nvml_wait *next = wait->next;

		tell(nvml, wait);
		wait = next;
	}
}

static void on_done(struct job *job)
{
	struct nvml *nvml = nvml_of(job);

	nvml->working = false;
	if (nvml->resting) {
		if (nvml->waiting && !nvml->stopped)
			submit(nvml, false);
		return;
	}
	nvml->err = nvml->fresh_err;
	if (!nvml->err)
		nvml->report = nvml->fresh;
	nvml->answered_ns = clock_mono_ns();
	tell_all(nvml);
}

struct nvml *nvml_new(uv_loop_t *loop)
{
	static const struct reader_program program = {
		.path = READER_SELF,
		.name = "nvml",
		.max_bytes = max_bytes,
		.niceness = NICENESS,
	};
	struct nvml *nvml = calloc(1, sizeof(*nvml));

	if (!nvml)
		return NULL;
	nvml->lane = lane_new(loop, WORK_nvml, 1);
	nvml->reader = reader_new(&program);
	if (!nvml->lane || !nvml->reader) {
		nvml_free(nvml);
		return NULL;
	}
	reader_deadline(nvml->reader, deadline_ns);
	reader_let_devices(nvml->reader);
	return nvml;
}

void nvml_ask(struct nvml *nvml, struct nvml_wait *wait)
{
	if (is_good(nvml) && !nvml->working) {
		tell(nvml, wait);
		return;
	}
	wait->next = nvml->waiting;
	nvml->waiting = wait;
	if (!nvml->working)
		submit(nvml, false);
	if (!nvml->working) {
		nvml->err = -EAGAIN;
		tell_all(nvml);
	}
}

void nvml_forget(struct nvml *nvml, struct nvml_wait *wait)
{
	struct nvml_wait **link = &nvml->waiting;

	while (*link && *link != wait)
		link = &(*link)->next;
	if (*link)
		*link = wait->next;
}

void nvml_rest(struct nvml *nvml)
{
	if (nvml->started && !nvml->working && !nvml->stopped)
		submit(nvml, true);
}

void nvml_stop(struct nvml *nvml)
{
	if (!nvml || nvml->stopped)
		return;
	nvml->stopped = true;
	reader_cancel(nvml->reader);
	lane_stop(nvml->lane);
}

void nvml_free(struct nvml *nvml)
{
	if (!nvml)
		return;
	reader_free(nvml->reader);
	lane_free(nvml->lane);
	free(nvml);
}

void nvml_add_reader_stats(const struct nvml *nvml, struct reader_stats *stats)
{
	reader_add_stats(nvml->reader, stats);
}
