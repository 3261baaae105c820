/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The process table: pid -> the programs it ran, newest first. It only ever learns from what it is
 * told and from /proc (proc/scan.c), and keeps what ended until nobody can ask for it any more.
 */
#include "proc/proc.h"

#include "base/bounds.h"
#include "base/clock.h"
#include "proc/parent.h"
#include "proc/proc_private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <utlist.h>

enum {
	/* Whoever watches the table goes through all mappings of a process that has changed. Of one
	 * with many it is told once a drain, and of so many mappings together at most. */
	MANY_MAPPINGS = 1024,
	MAX_LARGE = 4096, /* processes */
	TOLD_TOGETHER = 65536,
};

struct procs *procs_new(struct store *store)
{
	struct procs *procs = calloc(1, sizeof(*procs));

	if (!procs)
		return NULL;
	if (pid_set_init(&procs->large, MAX_LARGE)) {
		free(procs);
		return NULL;
	}
	procs->room.shares.whole = MAX_MAPPING_BYTES;
	procs->finder = (struct finder){.store = store, .room = &procs->room};
	return procs;
}

void procs_open_by(struct procs *procs, struct opener *opener)
{
	procs->finder.opener = opener;
}

static void set_waits(struct procs *procs, struct program *program, bool waits)
{
	if (waits == program->waits)
		return;
	program->waits = waits;
	if (waits)
		DL_APPEND2(procs->waiting, program, prev_waiting, next_waiting);
	else
		DL_DELETE2(procs->waiting, program, prev_waiting, next_waiting);
}

void program_wait(struct procs *procs, struct program *program)
{
	set_waits(procs, program, mapping_set_has_tickets(program->image.set));
}

static void program_free(struct procs *procs, struct program *program)
{
	if (!program)
		return;
	set_waits(procs, program, false);
	mapping_set_unref(program->image.set);
	identity_unref(program->identity);
	free(program);
}

static void process_free(struct procs *procs, struct process *process)
{
	while (process->newest) {
		struct program *program = process->newest;

		process->newest = program->older;
		program_free(procs, program);
	}
	free(process);
}

void procs_free(struct procs *procs)
{
	struct process *process, *next;

	if (!procs)
		return;
	HASH_ITER (hh, procs->by_pid, process, next) {
		HASH_DEL(procs->by_pid, process);
		process_free(procs, process);
	}
	shares_clear(&procs->room.shares);
	pid_set_release(&procs->large);
	free(procs->rescan.pids);
	kin_release(&procs->kin);
	free(procs);
}

struct process *procs_find(const struct procs *procs, uint32_t pid)
{
	struct process *process;

	HASH_FIND(hh, procs->by_pid, &pid, sizeof(pid), process);
	return process;
}

struct program *process_program(const struct process *process, uint64_t mono_ns)
{
	struct program *program = process->newest;

	while (program->older && program->image.start_mono_ns > mono_ns)
		program = program->older;
	return program;
}

void procs_tell(const struct procs *procs, uint32_t pid)
{
	for (size_t i = 0; i < MAX_PROCS_WATCHERS; i++) {
		const struct watcher *watcher = &procs->watchers[i];

		if (watcher->fn)
			watcher->fn(pid, watcher->ctx);
	}
}

void procs_tell_of_mappings(struct procs *procs, uint32_t pid, const struct image *image)
{
	if (mapping_set_count(image->set) < MANY_MAPPINGS || procs->large.count == MAX_LARGE)
		procs_tell(procs, pid);
	else
		pid_set_add(&procs->large, pid);
}

static void tell_of_large(struct procs *procs)
{
	size_t told = 0;
	uint32_t pid;

	while (told < TOLD_TOGETHER && (pid = pid_set_take(&procs->large))) {
		const struct process *process = procs_find(procs, pid);

		if (process)
			told += mapping_set_count(process->newest->image.set);
		procs_tell(procs, pid);
	}
}

static void set_comm(struct image *image, const char *comm)
{
	snprintf(image->comm, sizeof(image->comm), "%.*s", COMM_BYTES - 1, comm);
}

struct program *procs_start_program(struct procs *procs, uint32_t pid, const struct image *like,
                                    uint64_t mono_ns)
{
	struct process *process = procs_find(procs, pid);
	struct program *program = calloc(1, sizeof(*program));

	if (!program)
		return NULL;
	program->image.set = like ? mapping_set_ref(like->set) : mapping_set_new(&procs->room);
	program->image.start_mono_ns = mono_ns;
	program->pid = pid;
	if (like)
		set_comm(&program->image, like->comm);
	if (!process && program->image.set && HASH_COUNT(procs->by_pid) < MAX_PROCESSES) {
		process = calloc(1, sizeof(*process));
		if (process) {
			process->pid = pid;
			HASH_ADD(hh, procs->by_pid, pid, sizeof(pid), process);
			if (!process->hh.tbl) {
				free(process);
				process = NULL;
			}
		}
	}
	if (!process || !program->image.set) {
		procs->dropped++;
		program_free(procs, program);
		return NULL;
	}
	program_wait(procs, program);
	program->older = process->newest;
	process->newest = program;
	process->exited = false;
	procs_tell_of_mappings(procs, pid, &program->image);
	return program;
}

void procs_set_parent(struct procs *procs, uint32_t pid, uint32_t parent)
{
	struct process *process = procs_find(procs, pid);

	if (process)
		process->parent = parent;
}

/* A process begins, or begins anew, with one thread. */
static void set_alone(struct procs *procs, uint32_t pid, bool alone)
{
	struct process *process = procs_find(procs, pid);

	if (process)
		process->alone = alone;
}

void procs_fork(struct procs *procs, uint32_t parent_pid, uint32_t pid, uint64_t mono_ns)
{
	struct program *program =
		procs_start_program(procs, pid, procs_current(procs, parent_pid), mono_ns);

	if (program)
		program_forked(procs, program, parent_pid);
	/* What it has is not known before what its parent has. */
	if (program && procs_is_read(procs, parent_pid))
		procs_read(procs, pid);
	procs_note_fork(procs, parent_pid);
	procs_set_parent(procs, pid, parent_pid);
	set_alone(procs, pid, true);
}

void procs_thread(struct procs *procs, uint32_t pid)
{
	set_alone(procs, pid, false);
}

void procs_exec(struct procs *procs, uint32_t pid, const char *comm, uint64_t mono_ns)
{
	struct program *program = procs_start_program(procs, pid, NULL, mono_ns);

	if (program) {
		program_execed(program);
		set_comm(&program->image, comm);
	}
	set_alone(procs, pid, true);
}

void procs_comm(struct procs *procs, uint32_t pid, uint32_t tid, const char *comm)
{
	struct image *image = pid == tid ? procs_current(procs, pid) : NULL;

	if (image)
		set_comm(image, comm);
}

static void note_mapped(struct procs *procs, uint32_t pid, const struct proc_mapping *mapping)
{
	struct program *program = procs_find(procs, pid)->newest;

	program->mapped++;
	if (opener_is_ticket(mapping->object))
		set_waits(procs, program, true);
}

void procs_mmap(struct procs *procs, uint32_t pid, uint64_t start, uint64_t end, uint64_t offset,
                const struct file_key *key, const char *path)
{
	struct image *image = procs_current(procs, pid);
	struct proc_mapping mapping = {.start = start, .end = end, .offset = offset};

	if (!image)
		return;
	if (scan_map(&procs->finder, pid, image, &mapping, key, path))
		procs->dropped++;
	note_mapped(procs, pid, &mapping);
	procs_tell_of_mappings(procs, pid, image);
}

/* Programs share mappings after a fork: who is concerned is asked before any of them changes. */
void procs_opened(struct procs *procs, const struct opened *opened, size_t count)
{
	struct program *program, *next;

	for (program = procs->waiting; program; program = program->next_waiting)
		program->opened = mapping_set_has_any_of(program->image.set, opened, count);
	for (program = procs->waiting; program; program = next) {
		next = program->next_waiting;
		if (!program->opened)
			continue;
		mapping_set_replace(program->image.set, opened, count);
		program_wait(procs, program);
		procs_tell_of_mappings(procs, program->pid, &program->image);
	}
}

void procs_exit(struct procs *procs, uint32_t pid, uint32_t tid, uint64_t mono_ns)
{
	struct process *process = pid == tid ? procs_find(procs, pid) : NULL;

	if (!process)
		return;
	process->exited = true;
	process->exit_mono_ns = mono_ns;
	procs_tell(procs, pid);
}

/* Asks /proc only where the process may live on in other threads. */
static bool has_ended(const struct process *process)
{
	return process->exited && (process->alone || scan_threads(process->pid) <= 1);
}

static void drop_replaced(struct procs *procs, struct process *process, uint64_t mono_ns)
{
	struct program *program = process->newest;

	/* A program was replaced when its successor started. */
	while (program->older && program->image.start_mono_ns >= mono_ns)
		program = program->older;
	while (program->older) {
		struct program *old = program->older;

		program->older = old->older;
		program_free(procs, old);
	}
}

void procs_expire(struct procs *procs, uint64_t mono_ns)
{
	struct process *process, *next;

	procs_be_patient(procs);
	tell_of_large(procs);
	HASH_ITER (hh, procs->by_pid, process, next) {
		drop_replaced(procs, process, mono_ns);
		if (!process->exited || process->exit_mono_ns >= mono_ns)
			continue;
		if (!has_ended(process)) {
			process->exit_mono_ns = mono_ns;
			continue;
		}
		procs_tell(procs, process->pid);
		process_remember(procs, process);
		HASH_DEL(procs->by_pid, process);
		process_free(procs, process);
	}
	procs_settle_kin(procs, mono_ns);
	procs_close_unmapped(procs);
}

const struct image *procs_image(struct procs *procs, uint32_t pid, uint64_t mono_ns)
{
	struct process *process = procs_find(procs, pid);

	return process ? &process_program(process, mono_ns)->image : procs_current_now(procs, pid);
}

struct mapping_set *procs_mappings(struct procs *procs, uint32_t pid)
{
	struct process *process = procs_find(procs, pid);

	if (!process || has_ended(process))
		return NULL;
	return process->newest->image.set;
}

int procs_watch(struct procs *procs, procs_changed_fn *fn, void *ctx)
{
	for (size_t i = 0; i < MAX_PROCS_WATCHERS; i++) {
		if (procs->watchers[i].fn)
			continue;
		procs->watchers[i] = (struct watcher){fn, ctx};
		return 0;
	}
	return -ENOSPC;
}

void procs_unwatch(struct procs *procs, procs_changed_fn *fn, void *ctx)
{
	for (size_t i = 0; i < MAX_PROCS_WATCHERS; i++) {
		struct watcher *watcher = &procs->watchers[i];

		if (watcher->fn == fn && watcher->ctx == ctx)
			*watcher = (struct watcher){0};
	}
}

uint32_t procs_parent(const struct procs *procs, uint32_t pid)
{
	const struct process *process = procs_find(procs, pid);

	return process ? process->parent : 0;
}

bool procs_known(const struct procs *procs, uint32_t pid)
{
	return procs_find(procs, pid) != NULL;
}

bool procs_ended(const struct procs *procs, uint32_t pid)
{
	const struct process *process = procs_find(procs, pid);

	return !process || process->exited;
}

static int by_pid(const struct process *a, const struct process *b)
{
	return (a->pid > b->pid) - (a->pid < b->pid);
}

void procs_each(struct procs *procs, proc_fn *fn, void *ctx)
{
	struct process *process, *next;

	HASH_SORT(procs->by_pid, by_pid);
	HASH_ITER (hh, procs->by_pid, process, next) {
		struct proc proc = {.pid = process->pid, .comm = process->newest->image.comm};

		if (!process->exited)
			fn(&proc, ctx);
	}
}

void procs_get_stats(const struct procs *procs, struct proc_stats *ret_stats)
{
	struct process *process, *next;
	struct proc_stats stats = {
		.dropped = procs->dropped,
		.kin = procs->kin.count,
		.kin_dropped = procs->kin.dropped,
	};

	HASH_ITER (hh, procs->by_pid, process, next) {
		stats.processes++;
		for (struct program *program = process->newest; program; program = program->older) {
			stats.images++;
			stats.mappings += mapping_set_count(program->image.set);
		}
	}
	stats.mapping_bytes = procs->room.shares.taken;
	stats.mappings_refused = procs->room.refused;
	*ret_stats = stats;
}
