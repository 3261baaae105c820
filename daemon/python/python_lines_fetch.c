/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A job is a separate allocation with all that it needs, because its thread may return after
 * everything else is freed.
 */
#include "python/python_lines_fetch.h"

#include "base/clock.h"
#include "base/shares.h"
#include "bpf/execs.h"
#include "proc/process_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_FETCHES = 16, /* under way; each holds a table of up to MAX_PROCESS_MEMORY_BYTES */
	/* A second: a program can have as many long tables as it likes, and they take the loop's
	 * time. */
	FETCHED_BYTES = 16 << 20,
};

struct lines_fetches {
	struct crew *crew;
	const uint64_t *execs;
	lines_fetched_fn *fn;
	void *ctx;
	struct shares under_way, bytes; /* by user; bytes of the current second */
	uint64_t second_ns;             /* when that began */
};

struct fetch {
	struct crew_job job;
	struct lines_fetches *fetches;
	struct lines_wanted wanted;
	int err;
	uint8_t *lines;
	size_t told_len;
	uint8_t told[];
};

struct lines_fetches *lines_fetches_new(struct crew *crew, const uint64_t *execs,
                                        lines_fetched_fn *fn, void *ctx)
{
	struct lines_fetches *fetches = calloc(1, sizeof(*fetches));

	if (fetches)
		*fetches = (struct lines_fetches){
			.crew = crew,
			.execs = execs,
			.fn = fn,
			.ctx = ctx,
			.under_way.whole = MAX_FETCHES,
			.bytes.whole = FETCHED_BYTES,
		};
	return fetches;
}

void lines_fetches_free(struct lines_fetches *fetches)
{
	if (!fetches)
		return;
	shares_clear(&fetches->under_way);
	shares_clear(&fetches->bytes);
	free(fetches);
}

static void fetch_free(struct fetch *fetch)
{
	free(fetch->lines);
	free(fetch);
}

static void run(struct crew_job *job)
{
	struct fetch *fetch = (struct fetch *)job;
	const struct lines_wanted *wanted = &fetch->wanted;

	fetch->err = process_memory_read(wanted->pid, wanted->address, fetch->lines, wanted->len);
	if (!fetch->err &&
	    (memcmp(fetch->lines, fetch->told + wanted->begin_at, wanted->begin_len) != 0 ||
	     !process_memory_is_of(wanted->pid, wanted->began_ns)))
		fetch->err = -ESTALE;
}

static void done(struct crew_job *job, int err)
{
	struct fetch *fetch = (struct fetch *)job;
	const struct lines_wanted *wanted = &fetch->wanted;
	bool is_there = !err && !fetch->err &&
	                !execs_since(fetch->fetches->execs, wanted->pid, wanted->mono_ns);

	shares_give(&fetch->fetches->under_way, job->owner, 1);
	fetch->fetches->fn(
		&(struct lines_fetched){
			.owner = job->owner,
			.told = fetch->told,
			.told_len = fetch->told_len,
			.lines = is_there ? fetch->lines : NULL,
			.lines_len = is_there ? fetch->wanted.len : 0,
		},
		fetch->fetches->ctx);
	fetch_free(fetch);
}

static struct fetch *fetch_new(struct lines_fetches *fetches, const struct lines_wanted *wanted,
                               const struct lines_fetched *fetched)
{
	struct fetch *fetch = calloc(1, sizeof(*fetch) + fetched->told_len);

	if (!fetch)
		return NULL;
	fetch->job = (struct crew_job){.owner = fetched->owner,
	                               .device = crew_process(wanted->pid),
	                               .run = run,
	                               .done = done};
	fetch->fetches = fetches;
	fetch->wanted = *wanted;
	fetch->lines = malloc(wanted->len);
	fetch->told_len = fetched->told_len;
	memcpy(fetch->told, fetched->told, fetched->told_len);
	if (fetch->lines)
		return fetch;
	free(fetch);
	return NULL;
}

static bool charge(struct lines_fetches *fetches, uint32_t owner, size_t bytes)
{
	uint64_t now_ns = clock_mono_ns();

	if (now_ns - fetches->second_ns >= NSEC_PER_SEC) {
		fetches->second_ns = now_ns;
		shares_clear(&fetches->bytes);
	}
	if (!shares_take(&fetches->under_way, owner, 1))
		return false;
	if (shares_take(&fetches->bytes, owner, bytes))
		return true;
	shares_give(&fetches->under_way, owner, 1);
	return false;
}

int lines_fetches_start(struct lines_fetches *fetches, const struct lines_wanted *wanted,
                        const struct lines_fetched *fetched)
{
	struct fetch *fetch;
	int err = 0;

	if (!charge(fetches, fetched->owner, wanted->len))
		return -EAGAIN;
	fetch = fetch_new(fetches, wanted, fetched);
	if (!fetch)
		err = -ENOMEM;
	else if (fetches->crew)
		err = crew_submit(fetches->crew, &fetch->job);
	if (err) {
		shares_give(&fetches->under_way, fetched->owner, 1);
		shares_give(&fetches->bytes, fetched->owner, wanted->len);
		if (fetch)
			fetch_free(fetch);
		return err;
	}
	if (!fetches->crew) {
		run(&fetch->job);
		done(&fetch->job, 0);
	}
	return 0;
}
