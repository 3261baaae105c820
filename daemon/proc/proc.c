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

static void tell(const struct procs *procs, uint32_t pid)
{
	for (size_t i = 0; i < MAX_PROCS_WATCHERS; i++) {
		const struct watcher *watcher = &procs->watchers[i];

		if (watcher->fn)
			watcher->fn(pid, watcher->ctx);
	}
}

static void tell_of_mappings(struct procs *procs, uint32_t pid, const struct image *image)
{
	if (mapping_set_count(image->set) < MANY_MAPPINGS || procs->large.count == MAX_LARGE)
		tell(procs, pid);
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
		tell(procs, pid);
	}
}

static void set_comm(struct image *image, const char *comm)
{
	snprintf(image->comm, sizeof(image->comm), "%.*s", COMM_BYTES - 1, comm);
}

/* Starts a program in `pid`: with the mappings of `like` after a fork, with none after an exec. */
static struct program *start_program(struct procs *procs, uint32_t pid, const struct image *like,
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
	set_waits(procs, program, mapping_set_has_tickets(program->image.set));
	program->older = process->newest;
	process->newest = program;
	process->exited = false;
	tell_of_mappings(procs, pid, &program->image);
	return program;
}

static void set_parent(struct procs *procs, uint32_t pid, uint32_t parent)
{
	struct process *process = procs_find(procs, pid);

	if (process)
		process->parent = parent;
}

static int scan_program(struct procs *procs, uint32_t pid, struct program *program)
{
	int err = scan_process(&procs->finder, pid, &program->image);

	set_waits(procs, program, mapping_set_has_tickets(program->image.set));
	return err;
}

/* What runs in `pid` now, as far as known; else what /proc says. */
static struct image *current(struct procs *procs, uint32_t pid)
{
	struct process *process = procs_find(procs, pid);
	struct program *program;

	if (process)
		return &process->newest->image;
	if (!scan_exists(pid))
		return NULL;
	program = start_program(procs, pid, NULL, 0);
	if (!program)
		return NULL;
	set_parent(procs, pid, parent_read(pid));
	procs_note_fork(procs, pid);
	scan_program(procs, pid, program);
	return &program->image;
}

int procs_scan_pid(struct procs *procs, uint32_t pid)
{
	struct process *process = procs_find(procs, pid);
	int err;

	if (!process) {
		current(procs, pid);
		return 0;
	}
	if (!process->parent)
		process->parent = parent_read(pid);
	err = scan_program(procs, pid, process->newest);
	tell_of_mappings(procs, pid, &process->newest->image);
	return err == -ENOMEM ? err : 0;
}

static int scan_one(uint32_t pid, void *ctx)
{
	return procs_scan_pid(ctx, pid);
}

void procs_find_ended(struct procs *procs)
{
	struct process *process, *next;

	HASH_ITER (hh, procs->by_pid, process, next) {
		if (process->exited || scan_exists(process->pid))
			continue;
		process->exited = true;
		process->exit_mono_ns = clock_mono_ns();
		tell(procs, process->pid);
	}
}

int procs_scan(struct procs *procs)
{
	int err = scan_all(scan_one, procs);

	procs_find_ended(procs);
	return err;
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
	struct program *program = start_program(procs, pid, current(procs, parent_pid), mono_ns);

	if (program)
		program_forked(procs, program, parent_pid);
	procs_note_fork(procs, parent_pid);
	set_parent(procs, pid, parent_pid);
	set_alone(procs, pid, true);
}

void procs_thread(struct procs *procs, uint32_t pid)
{
	set_alone(procs, pid, false);
}

void procs_exec(struct procs *procs, uint32_t pid, const char *comm, uint64_t mono_ns)
{
	struct program *program = start_program(procs, pid, NULL, mono_ns);

	if (program) {
		program_execed(program);
		set_comm(&program->image, comm);
	}
	set_alone(procs, pid, true);
}

void procs_comm(struct procs *procs, uint32_t pid, uint32_t tid, const char *comm)
{
	struct image *image = pid == tid ? current(procs, pid) : NULL;

	if (image)
		set_comm(image, comm);
}

void procs_mmap(struct procs *procs, uint32_t pid, uint64_t start, uint64_t end, uint64_t offset,
                const struct file_key *key, const char *path)
{
	struct image *image = current(procs, pid);
	struct proc_mapping mapping = {.start = start, .end = end, .offset = offset};

	if (!image)
		return;
	if (scan_map(&procs->finder, pid, image, &mapping, key, path))
		procs->dropped++;
	if (opener_is_ticket(mapping.object))
		set_waits(procs, procs_find(procs, pid)->newest, true);
	tell_of_mappings(procs, pid, image);
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
		set_waits(procs, program, mapping_set_has_tickets(program->image.set));
		tell_of_mappings(procs, program->pid, &program->image);
	}
}

void procs_exit(struct procs *procs, uint32_t pid, uint32_t tid, uint64_t mono_ns)
{
	struct process *process = pid == tid ? procs_find(procs, pid) : NULL;

	if (!process)
		return;
	process->exited = true;
	process->exit_mono_ns = mono_ns;
	tell(procs, pid);
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

	tell_of_large(procs);
	HASH_ITER (hh, procs->by_pid, process, next) {
		drop_replaced(procs, process, mono_ns);
		if (!process->exited || process->exit_mono_ns >= mono_ns)
			continue;
		if (!has_ended(process)) {
			process->exit_mono_ns = mono_ns;
			continue;
		}
		tell(procs, process->pid);
		process_remember(procs, process);
		HASH_DEL(procs->by_pid, process);
		process_free(procs, process);
	}
	procs_settle_kin(procs, mono_ns);
}

const struct image *procs_image(struct procs *procs, uint32_t pid, uint64_t mono_ns)
{
	struct process *process = procs_find(procs, pid);

	return process ? &process_program(process, mono_ns)->image : current(procs, pid);
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
