/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A table by handle of the reads under way. Each job has its own heap allocation: its thread may
 * return after everything else is gone.
 */
#include "gpu/gpu_name_fetch.h"

#include "base/clock.h"
#include "base/table.h"
#include "bpf/execs.h"
#include "proc/process_memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t patience_ns = 20 * NSEC_PER_MSEC;

struct fetch {
	struct crew_job job;
	struct gpu_name_fetches *fetches;
	uint64_t address, mono_ns, began_ns;
	struct gpu_name_fetched fetched;
	UT_hash_handle hh; /* by fetched.by; hh.tbl is NULL when the name is not wanted */
};

struct gpu_name_fetches {
	struct crew *crew;
	const uint64_t *execs;
	gpu_name_fetched_fn *fn;
	void *ctx;
	struct fetch *under_way;
};

struct gpu_name_fetches *gpu_name_fetches_new(struct crew *crew, const uint64_t *execs,
                                              gpu_name_fetched_fn *fn, void *ctx)
{
	struct gpu_name_fetches *fetches = calloc(1, sizeof(*fetches));

	if (fetches)
		*fetches = (struct gpu_name_fetches){crew, execs, fn, ctx, NULL};
	return fetches;
}

static void forget(struct gpu_name_fetches *fetches, struct fetch *fetch)
{
	HASH_DEL(fetches->under_way, fetch);
	fetch->hh.tbl = NULL;
}

void gpu_name_fetches_free(struct gpu_name_fetches *fetches)
{
	struct fetch *fetch, *next;

	if (!fetches)
		return;
	HASH_ITER (hh, fetches->under_way, fetch, next)
		forget(fetches, fetch);
	free(fetches);
}

/* Reads up to the end of a page at a time: nothing may be mapped behind the string. */
static void run(struct crew_job *job)
{
	struct fetch *fetch = (struct fetch *)job;
	struct gpu_name_fetched *fetched = &fetch->fetched;
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	size_t len = 0;

	while (len < GPU_NAME_BYTES) {
		size_t piece = page_bytes - (fetch->address + len) % page_bytes, used;

		if (piece > GPU_NAME_BYTES - len)
			piece = GPU_NAME_BYTES - len;
		if (process_memory_read(fetched->by.pid, fetch->address + len, fetched->name + len,
		                        piece))
			return;
		used = strnlen(fetched->name + len, piece);
		len += used;
		if (used < piece)
			break;
	}
	if (process_memory_is_of(fetched->by.pid, fetch->began_ns))
		fetched->len = len;
}

static void done(struct crew_job *job, int err)
{
	struct fetch *fetch = (struct fetch *)job;
	struct gpu_name_fetches *fetches = fetch->fetches;

	if (fetch->hh.tbl) {
		forget(fetches, fetch);
		/* Checked after the read: then what was read is of the program that reported the
		 * handle. */
		if (err || execs_since(fetches->execs, fetch->fetched.by.pid, fetch->mono_ns))
			fetch->fetched.len = 0;
		fetches->fn(&fetch->fetched, fetches->ctx);
	}
	free(fetch);
}

static struct fetch *find(const struct gpu_name_fetches *fetches, const struct gpu_named_by *by)
{
	struct fetch *fetch;

	HASH_FIND(hh, fetches->under_way, by, sizeof(*by), fetch);
	return fetch;
}

bool gpu_name_fetches_start(struct gpu_name_fetches *fetches, const struct gpu_named_by *by,
                            uint32_t owner, const struct gpu_event *event)
{
	struct fetch *fetch = calloc(1, sizeof(*fetch));

	if (!fetch)
		return false;
	*fetch = (struct fetch){
		.job = {.owner = owner, .device = crew_process(by->pid), .run = run, .done = done},
		.fetches = fetches,
		.address = event->size,
		.mono_ns = event->time_ns,
		.began_ns = event->reserved,
		.fetched = {.by = *by, .handles = {by->handle}, .count = 1},
	};
	gpu_name_fetches_drop(fetches, by);
	HASH_ADD(hh, fetches->under_way, fetched.by, sizeof(*by), fetch);
	if (!fetch->hh.tbl) {
		free(fetch);
		return false;
	}
	if (!fetches->crew) {
		run(&fetch->job);
		done(&fetch->job, 0);
	} else if (crew_submit(fetches->crew, &fetch->job)) {
		forget(fetches, fetch);
		free(fetch);
		return false;
	}
	return true;
}

bool gpu_name_fetches_add(struct gpu_name_fetches *fetches, const struct gpu_named_by *by,
                          uint64_t handle)
{
	struct fetch *fetch = find(fetches, by);

	if (!fetch)
		return false;
	if (fetch->fetched.count < MAX_FETCHED_HANDLES)
		fetch->fetched.handles[fetch->fetched.count++] = handle;
	return true;
}

void gpu_name_fetches_drop(struct gpu_name_fetches *fetches, const struct gpu_named_by *by)
{
	struct fetch *fetch = find(fetches, by);

	if (fetch)
		forget(fetches, fetch);
}

void gpu_name_fetches_settle(struct gpu_name_fetches *fetches)
{
	if (fetches->under_way && fetches->crew)
		crew_settle(fetches->crew, patience_ns);
}
