/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A crew does the reading (base/crew.h). A job may outlive its request when the kernel does not let
 * the reading return.
 */
#include "memory/pss.h"

#include "base/clock.h"
#include "base/crew.h"
#include "proc/owner.h"

#include <errno.h>
#include <stdatomic.h>
#include <utlist.h>

struct pss_reader {
	struct pss_config config;
	struct crew *crew;
	uv_timer_t timer;
	struct pss_ask *asked; /* requests without an answer yet */
};

struct pss_job {
	struct crew_job job;
	struct pss_reader *reader;
	int (*read)(uint32_t pid, uint64_t *ret_bytes);
	uint32_t pid;
	struct pss_ask *ask;  /* NULL once the request was answered */
	atomic_bool unwanted; /* the same, for the thread of the crew */
	int err;
	uint64_t bytes;
};

/* On a thread of the crew. */
static void run_job(struct crew_job *crew_job)
{
	struct pss_job *job = (struct pss_job *)crew_job;

	if (!atomic_load(&job->unwanted))
		job->err = job->read(job->pid, &job->bytes);
}

static void tell(struct pss_reader *reader, struct pss_ask *ask, int err, uint64_t bytes)
{
	DL_DELETE(reader->asked, ask);
	ask->job->ask = NULL;
	atomic_store(&ask->job->unwanted, true);
	ask->done(ask, err, bytes);
}

static void on_job(struct crew_job *crew_job, int err)
{
	struct pss_job *job = (struct pss_job *)crew_job;

	if (job->ask)
		tell(job->reader, job->ask, err ? err : job->err, job->bytes);
	free(job);
}

static void on_timer(uv_timer_t *timer);

/* Sets the timer to the deadline of the oldest request. */
static void watch(struct pss_reader *reader)
{
	uint64_t now_ns = clock_mono_ns();
	uint64_t due_ns = reader->asked ? reader->asked->due_mono_ns : 0;

	if (reader->asked)
		uv_timer_start(&reader->timer, on_timer,
		               due_ns > now_ns ? (due_ns - now_ns) / NSEC_PER_MSEC + 1 : 0, 0);
}

static void on_timer(uv_timer_t *timer)
{
	struct pss_reader *reader = timer->data;
	uint64_t now_ns = clock_mono_ns();

	while (reader->asked && reader->asked->due_mono_ns <= now_ns)
		tell(reader, reader->asked, -ETIMEDOUT, 0);
	watch(reader);
}

int pss_reader_new(const struct pss_config *config, struct pss_reader **ret_reader)
{
	const struct crew_config crew = {.loop = config->loop, .deadline_ns = config->deadline_ns};
	struct pss_reader *reader = calloc(1, sizeof(*reader));
	int err;

	if (!reader)
		return -ENOMEM;
	reader->config = *config;
	err = crew_new(&crew, &reader->crew);
	if (err) {
		free(reader);
		return err;
	}
	uv_timer_init(config->loop, &reader->timer);
	reader->timer.data = reader;
	*ret_reader = reader;
	return 0;
}

/* A reading that a user makes hang or take long occupies one thread, and delays the readings of
 * that user's other processes. Processes of the superuser do not delay each other. */
static uint64_t device_of(uint32_t owner, uint32_t pid)
{
	return owner ? 0 : pid;
}

int pss_reader_ask(struct pss_reader *reader, struct pss_ask *ask)
{
	uint32_t owner = reader->config.owner(ask->pid);
	struct pss_job *job = owner == OWNER_UNKNOWN ? NULL : calloc(1, sizeof(*job));
	int err;

	if (!job)
		return owner == OWNER_UNKNOWN ? -ESRCH : -ENOMEM;
	job->job = (struct crew_job){.owner = owner,
	                             .device = device_of(owner, ask->pid),
	                             .run = run_job,
	                             .done = on_job};
	job->reader = reader;
	job->read = reader->config.read;
	job->pid = ask->pid;
	job->ask = ask;
	ask->job = job;
	ask->due_mono_ns = clock_mono_ns() + reader->config.deadline_ns;
	err = crew_submit(reader->crew, &job->job);
	if (err) {
		free(job);
		return err;
	}
	DL_APPEND(reader->asked, ask);
	if (!uv_is_active((uv_handle_t *)&reader->timer))
		watch(reader);
	return 0;
}

void pss_reader_stop(struct pss_reader *reader)
{
	if (!reader)
		return;
	crew_stop(reader->crew);
	while (reader->asked)
		tell(reader, reader->asked, -ECANCELED, 0);
	uv_close((uv_handle_t *)&reader->timer, NULL);
}

void pss_reader_free(struct pss_reader *reader)
{
	if (!reader)
		return;
	crew_free(reader->crew);
	free(reader);
}
