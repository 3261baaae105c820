/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Notifies watchers of processes that change. Most processes of a fork storm start and end between
 * two readings of the side-band records; a watcher would only find that such a process is gone.
 */
#include "base/clock.h"
#include "proc/proc_private.h"

#include <utlist.h>

enum {
	/* A watcher goes through all mappings of a process that has changed. Changes of a process
	 * with MANY_MAPPINGS are reported once a drain, until TOLD_TOGETHER mappings are
	 * reached. */
	MANY_MAPPINGS = 1024,
	TOLD_TOGETHER = 65536,
};

void procs_tell_now(const struct procs *procs, uint32_t pid)
{
	const struct procs_watcher *watcher;

	DL_FOREACH (procs->watchers, watcher) {
		watcher->fn(pid, watcher->ctx);
	}
}

static void tell_held(struct procs *procs)
{
	uint32_t pid;

	while ((pid = pid_set_take(&procs->changed))) {
		struct process *process = procs_find(procs, pid);

		/* forget() notified the watchers when a process that they know left the table. */
		if (!process || (process->exited && process->alone && !process->told))
			continue;
		process->told = true;
		procs_tell_now(procs, pid);
	}
}

void procs_tell(struct procs *procs, struct process *process)
{
	if (procs->changed.count == procs->changed.limit)
		tell_held(procs);
	pid_set_add(&procs->changed, process->pid);
	if (!procs->holds)
		tell_held(procs);
}

void procs_tell_of_mappings(struct procs *procs, struct process *process)
{
	if (mapping_set_count(process->newest->image.set) < MANY_MAPPINGS ||
	    procs->large.count == procs->large.limit) {
		procs_tell(procs, process);
		return;
	}
	process->told = true;
	pid_set_add(&procs->large, process->pid);
}

void procs_tell_of_large(struct procs *procs)
{
	size_t told = 0;
	uint32_t pid;

	while (told < TOLD_TOGETHER && (pid = pid_set_take(&procs->large))) {
		const struct process *process = procs_find(procs, pid);

		if (process)
			told += mapping_set_count(process->newest->image.set);
		procs_tell_now(procs, pid);
	}
}

void procs_hold(struct procs *procs)
{
	store_hold_time(procs->finder.store, clock_mono_ns());
	procs->found = (struct found){0};
	procs->finder.last = &procs->found;
}

void procs_release(struct procs *procs)
{
	store_hold_time(procs->finder.store, 0);
	procs->finder.last = NULL;
}

void procs_begin(struct procs *procs)
{
	procs->holds = true;
	procs_hold(procs);
}

void procs_end(struct procs *procs)
{
	procs_release(procs);
	procs->holds = false;
	tell_held(procs);
}

void procs_watch(struct procs *procs, struct procs_watcher *watcher)
{
	DL_APPEND(procs->watchers, watcher);
}

void procs_unwatch(struct procs *procs, struct procs_watcher *watcher)
{
	if (!watcher->fn)
		return;
	DL_DELETE(procs->watchers, watcher);
	watcher->fn = NULL;
}
