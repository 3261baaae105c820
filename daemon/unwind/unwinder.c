/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Combines the parts: which processes changed (reported by the process table as it learns), what
 * they have mapped (unwind/spaces.h), and the tables for walking that (unwind/tables.h). A call
 * with nothing new only reads a clock.
 */
#include "unwind/unwinder.h"

#include "base/clock.h"
#include "base/pid_set.h"
#include "unwind/spaces.h"
#include "unwind/tables.h"

#include <errno.h>

enum {
	MAX_CHANGED = 16384, /* between two calls; if more changed, all processes are looked at */
	MAX_REFUSED = 256,   /* processes without room that are tried again */
};

/* A wake-up by a walk leads to a look at once, but a storm of wake-ups does not lead to constant
 * looking. Tables that no walk has missed can wait longer. */
static const uint64_t look_ns = 2 * NSEC_PER_MSEC, ahead_ns = 50 * NSEC_PER_MSEC;
/* Retries are rare, because each refused process may have its owner looked up again. */
static const uint64_t retry_ns = 200 * NSEC_PER_MSEC;

struct unwinder {
	struct procs *procs;
	struct unwind_memory memory;
	struct tables *tables;
	struct spaces *spaces;
	struct procs_watcher watcher;
	struct pid_set changed, refused, early;
	bool all_changed, stopped;
	uint64_t told_mono_ns;
	uint64_t freed; /* spaces_freed() when refused processes were last retried */
	uint64_t started_ns, looked_ns, ahead_looked_ns, retried_ns;
};

static void note_change(uint32_t pid, void *ctx)
{
	struct unwinder *unwinder = ctx;

	pid_set_add(&unwinder->changed, pid);
}

static void note_refused(uint32_t pid, void *ctx)
{
	struct unwinder *unwinder = ctx;

	pid_set_add(&unwinder->refused, pid);
}

static int fill(struct unwinder *unwinder, uv_loop_t *loop, struct store *store)
{
	if (pid_set_init(&unwinder->changed, MAX_CHANGED) ||
	    pid_set_init(&unwinder->early, MAX_CHANGED) ||
	    pid_set_init(&unwinder->refused, MAX_REFUSED))
		return -1;
	unwinder->tables = tables_new(loop, store, &unwinder->memory);
	if (!unwinder->tables)
		return -1;
	unwinder->spaces =
		spaces_new(unwinder->tables, store, &unwinder->memory, note_refused, unwinder);
	return unwinder->spaces ? 0 : -1;
}

struct unwinder *unwinder_new(uv_loop_t *loop, struct procs *procs, struct store *store,
                              const struct unwind_memory *memory)
{
	struct unwinder *unwinder = calloc(1, sizeof(*unwinder));

	if (!unwinder)
		return NULL;
	unwinder->memory = *memory;
	unwinder->procs = procs;
	unwinder->all_changed = true;
	unwinder->started_ns = clock_mono_ns();
	if (fill(unwinder, loop, store)) {
		unwinder_free(unwinder);
		return NULL;
	}
	unwinder->watcher = (struct procs_watcher){.fn = note_change, .ctx = unwinder};
	procs_watch(procs, &unwinder->watcher);
	return unwinder;
}

void unwinder_stop(struct unwinder *unwinder)
{
	if (unwinder->stopped)
		return;
	unwinder->stopped = true;
	procs_unwatch(unwinder->procs, &unwinder->watcher);
	tables_stop(unwinder->tables);
}

void unwinder_free(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	if (unwinder->tables)
		unwinder_stop(unwinder);
	spaces_free(unwinder->spaces);
	tables_free(unwinder->tables);
	pid_set_release(&unwinder->changed);
	pid_set_release(&unwinder->early);
	pid_set_release(&unwinder->refused);
	free(unwinder);
}

static void publish(uint32_t pid, void *ctx)
{
	struct unwinder *unwinder = ctx;
	int err = spaces_set(unwinder->spaces, pid, procs_mappings(unwinder->procs, pid),
	                     unwinder->told_mono_ns);

	if (err == -EAGAIN)
		pid_set_add(&unwinder->early, pid);
	else if (err == -ENOSPC)
		note_refused(pid, unwinder);
}

static void publish_process(const struct proc *proc, void *ctx)
{
	publish(proc->pid, ctx);
}

static void publish_changed(struct unwinder *unwinder)
{
	bool all = unwinder->all_changed || unwinder->changed.overflown;
	uint32_t pid;

	unwinder->all_changed = unwinder->changed.overflown = false;
	while ((pid = pid_set_take(&unwinder->changed))) {
		if (!all)
			publish(pid, unwinder);
	}
	if (all) {
		/* First the processes that ended, then those that live. */
		spaces_each(unwinder->spaces, publish, unwinder);
		procs_each(unwinder->procs, publish_process, unwinder);
	}
	unwinder->all_changed = pid_set_move(&unwinder->early, &unwinder->changed);
}

static void retry_refused(struct unwinder *unwinder, uint64_t now_ns)
{
	uint64_t freed = spaces_freed(unwinder->spaces);

	if (freed == unwinder->freed || now_ns - unwinder->retried_ns < retry_ns)
		return;
	unwinder->freed = freed;
	unwinder->retried_ns = now_ns;
	pid_set_move(&unwinder->refused, &unwinder->changed);
}

static void reclaim(struct unwinder *unwinder)
{
	tables_reclaim(unwinder->tables);
	spaces_reclaim(unwinder->spaces);
}

static void look(struct unwinder *unwinder, uint64_t now_ns)
{
	uint32_t epoch = (uint32_t)((now_ns - unwinder->started_ns) / NSEC_PER_SEC) + 1;

	unwinder->looked_ns = now_ns;
	/* Usually the records of the exec that cleared a slot have already led to a new slot. If
	 * they were read just before the slot was cleared they have not, so the process is
	 * published again. */
	if (epoch != *unwinder->memory.epoch)
		spaces_each_cleared(unwinder->spaces, note_change, unwinder);
	__atomic_store_n(unwinder->memory.epoch, epoch, __ATOMIC_RELAXED);
	retry_refused(unwinder, now_ns);
	if (now_ns - unwinder->ahead_looked_ns < ahead_ns) {
		tables_look_missed(unwinder->tables, epoch);
		return;
	}
	unwinder->ahead_looked_ns = now_ns;
	tables_look(unwinder->tables, epoch);
}

bool unwinder_sync(struct unwinder *unwinder, uint64_t told_mono_ns)
{
	uint64_t now_ns = clock_mono_ns();

	if (unwinder->stopped)
		return false;
	unwinder->told_mono_ns = told_mono_ns;
	publish_changed(unwinder);
	if (now_ns - unwinder->looked_ns >= look_ns)
		look(unwinder, now_ns);
	reclaim(unwinder);
	return tables_building(unwinder->tables);
}

void unwinder_look(struct unwinder *unwinder)
{
	unwinder->ahead_looked_ns = 0;
	if (!unwinder->stopped)
		look(unwinder, clock_mono_ns());
}

void unwinder_get_stats(const struct unwinder *unwinder, struct unwinder_stats *ret_stats)
{
	struct unwinder_stats stats = {0};

	tables_get_stats(unwinder->tables, &stats);
	spaces_get_stats(unwinder->spaces, &stats);
	*ret_stats = stats;
}

void unwinder_add_reader_stats(const struct unwinder *unwinder, struct reader_stats *stats)
{
	tables_add_reader_stats(unwinder->tables, stats);
}
