/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The process table: pid -> the programs it ran, newest first. Its only sources are the events that
 * the caller reports and /proc (proc/scan.c). It keeps ended programs for as long as samples may
 * refer to them.
 */
#include "proc/proc.h"

#include "base/bounds.h"
#include "base/clock.h"
#include "proc/parent.h"
#include "proc/owner.h"
#include "proc/proc_private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <utlist.h>

enum {
	MAX_LARGE = 4096,    /* processes with many mappings whose changes are reported later */
	MAX_CHANGED = 16384, /* processes that change between procs_begin() and procs_end(); with
	                      * more, the watchers are notified before procs_end() */
};

struct procs *procs_new(struct store *store)
{
	struct procs *procs = calloc(1, sizeof(*procs));

	if (!procs)
		return NULL;
	if (pid_set_init(&procs->large, MAX_LARGE) || pid_set_init(&procs->changed, MAX_CHANGED) ||
	    pid_table_init(&procs->by_pid)) {
		procs_free(procs);
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

void program_free(struct procs *procs, struct program *program)
{
	if (!program)
		return;
	set_waits(procs, program, false);
	mapping_set_unref(program->image.set);
	identity_unref(program->identity);
	procs->programs--;
	free(program);
}

/* Another program of this pid may be of another user. */
static void forget_owner(struct procs *procs, struct process *process)
{
	if (process->owner != OWNER_UNKNOWN)
		shares_give(&procs->owners, process->owner, 1);
	process->owner = OWNER_UNKNOWN;
}

void process_free(struct procs *procs, struct process *process)
{
	if (process->list)
		DL_DELETE(*process->list, process);
	pid_table_remove(&procs->by_pid, process->pid);
	forget_owner(procs, process);
	while (process->newest) {
		struct program *program = process->newest;

		process->newest = program->older;
		program_free(procs, program);
	}
	free(process);
}

void procs_free(struct procs *procs)
{
	struct process *process;
	uint32_t at = 0;

	if (!procs)
		return;
	while (procs->by_pid.pages && (process = pid_table_next(&procs->by_pid, &at)))
		process_free(procs, process);
	pid_table_release(&procs->by_pid);
	shares_clear(&procs->room.shares);
	pid_set_release(&procs->large);
	pid_set_release(&procs->changed);
	free(procs->rescan.pids);
	shares_clear(&procs->again.shares);
	shares_clear(&procs->applying.shares);
	shares_clear(&procs->owners);
	kin_release(&procs->kin);
	free(procs);
}

struct process *procs_find(const struct procs *procs, uint32_t pid)
{
	return pid_table_find(&procs->by_pid, pid);
}

struct program *process_program(const struct process *process, uint64_t mono_ns)
{
	struct program *program = process->newest;

	while (program->older && program->image.start_mono_ns > mono_ns)
		program = program->older;
	return program->cut && program->image.start_mono_ns > mono_ns ? NULL : program;
}

static void set_comm(struct image *image, const char *comm)
{
	size_t len = strnlen(comm, COMM_BYTES - 1);

	memcpy(image->comm, comm, len);
	memset(image->comm + len, 0, COMM_BYTES - len);
}

/* NULL when memory or the room of the table is used up. */
static struct process *add_process(struct procs *procs, uint32_t pid)
{
	struct process *process;

	if (procs->by_pid.count >= MAX_PROCESSES)
		procs_make_room(procs);
	process = procs->by_pid.count < MAX_PROCESSES ? calloc(1, sizeof(*process)) : NULL;
	if (!process)
		return NULL;
	process->pid = pid;
	process->used = procs->drains;
	process->owner = OWNER_UNKNOWN;
	if (pid_table_add(&procs->by_pid, pid, process)) {
		free(process);
		return NULL;
	}
	return process;
}

struct program *procs_start_program(struct procs *procs, uint32_t pid, const struct image *like,
                                    uint64_t mono_ns)
{
	struct process *process = procs_find(procs, pid);
	struct program *program = calloc(1, sizeof(*program));

	if (!program)
		return NULL;
	procs->programs++;
	program->image.set = like ? mapping_set_ref(like->set) : mapping_set_new(&procs->room);
	program->image.start_mono_ns = mono_ns;
	program->image.pid = pid;
	if (like)
		memcpy(program->image.comm, like->comm, sizeof(like->comm));
	/* Only now, because add_process() may evict the process that `like` belongs to. */
	if (process)
		forget_owner(procs, process);
	else if (program->image.set)
		process = add_process(procs, pid);
	if (!process || !program->image.set) {
		procs->dropped++;
		program_free(procs, program);
		return NULL;
	}
	program_wait(procs, program);
	program->older = process->newest;
	process->newest = program;
	process->exited = false;
	process->incomplete = false;
	procs_list(procs, process);
	procs_tell_of_mappings(procs, process);
	return program;
}

void procs_set_parent(struct procs *procs, uint32_t pid, uint32_t parent)
{
	struct process *process = procs_find(procs, pid);

	if (process)
		process->parent = parent;
}

/* A process has started, or has executed a program: it has one thread. */
static void begin(struct procs *procs, uint32_t pid)
{
	struct process *process = procs_find(procs, pid);

	if (!process)
		return;
	process->alone = true;
	procs_forget_replaced(procs, process);
}

void procs_fork(struct procs *procs, uint32_t parent_pid, uint32_t pid, uint64_t mono_ns)
{
	struct program *program =
		procs_start_program(procs, pid, procs_current(procs, parent_pid), mono_ns);
	struct process *parent = procs_find(procs, parent_pid);

	if (program)
		program_forked(program, parent_pid, parent);
	if (program && parent && (parent->is_read || parent->incomplete))
		procs_read_forked(procs, procs_find(procs, pid), parent);
	if (parent)
		parent->forked = true;
	procs_set_parent(procs, pid, parent_pid);
	begin(procs, pid);
}

void procs_thread(struct procs *procs, uint32_t pid)
{
	struct process *process = procs_find(procs, pid);

	if (process)
		process->alone = false;
}

void procs_exec(struct procs *procs, uint32_t pid, const char *comm, uint64_t mono_ns)
{
	struct program *program = procs_start_program(procs, pid, NULL, mono_ns);

	if (program) {
		program_execed(program);
		set_comm(&program->image, comm);
		procs_read_new(procs, pid);
	}
	begin(procs, pid);
}

void procs_comm(struct procs *procs, uint32_t pid, uint32_t tid, const char *comm)
{
	struct image *image = pid == tid ? procs_current(procs, pid) : NULL;

	if (image)
		set_comm(image, comm);
}

void procs_mmap(struct procs *procs, uint32_t pid, uint64_t start, uint64_t end, uint64_t offset,
                const struct file_key *key, const char *path)
{
	struct image *image = procs_current(procs, pid);
	struct proc_mapping mapping = {.start = start, .end = end, .offset = offset};
	struct process *process;

	if (!image)
		return;
	if (scan_map(&procs->finder, pid, image, &mapping, key, path))
		procs->dropped++;
	process = procs_find(procs, pid);
	process->newest->mapped++;
	if (store_is_ticket(mapping.object))
		set_waits(procs, process->newest, true);
	procs_tell_of_mappings(procs, process);
}

static void tell_of(struct procs *procs, const struct program *program)
{
	struct process *process = procs_find(procs, program->image.pid);

	if (process)
		procs_tell_of_mappings(procs, process);
}

static uint32_t next_round(struct procs *procs)
{
	return ++procs->opened_round ?: ++procs->opened_round;
}

/* Programs share mappings after a fork, so all affected programs are found before any is
 * changed. */
void procs_opened(struct procs *procs, const struct opened *opened, size_t count)
{
	const struct opened_batch batch = {opened, count, next_round(procs)};
	struct program *program, *next;

	for (program = procs->waiting; program; program = program->next_waiting)
		program->opened = mapping_set_has_any_of(program->image.set, &batch);
	for (program = procs->waiting; program; program = next) {
		next = program->next_waiting;
		if (!program->opened)
			continue;
		mapping_set_replace(program->image.set, &batch);
		program_wait(procs, program);
		tell_of(procs, program);
	}
}

void procs_exit(struct procs *procs, uint32_t pid, uint32_t tid, uint64_t mono_ns)
{
	struct process *process = pid == tid ? procs_find(procs, pid) : NULL;

	if (!process)
		return;
	process->exited = true;
	process->exit_mono_ns = mono_ns;
	procs_list(procs, process);
	procs_tell(procs, process);
}

const struct image *procs_image(struct procs *procs, uint32_t pid, uint64_t mono_ns)
{
	struct process *process = procs_find(procs, pid);
	struct program *program;

	if (!process)
		return procs_current_now(procs, pid);
	process->used = procs->drains;
	program = process_program(process, mono_ns);
	return program ? &program->image : NULL;
}

struct mapping_set *procs_mappings(struct procs *procs, uint32_t pid)
{
	struct process *process = procs_find(procs, pid);

	if (!process || process_has_ended(process))
		return NULL;
	return process->newest->image.set;
}

uint32_t procs_parent(const struct procs *procs, uint32_t pid)
{
	const struct process *process = procs_find(procs, pid);

	return process ? process->parent : 0;
}

const char *procs_comm_of(const struct procs *procs, uint32_t pid)
{
	const struct process *process = procs_find(procs, pid);

	return process ? process->newest->image.comm : NULL;
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

void procs_each(struct procs *procs, proc_fn *fn, void *ctx)
{
	const struct process *process;
	uint32_t at = 0;

	while ((process = pid_table_next(&procs->by_pid, &at))) {
		struct proc proc = {.pid = process->pid, .comm = process->newest->image.comm};

		if (!process->exited)
			fn(&proc, ctx);
	}
}

void procs_get_stats(const struct procs *procs, struct proc_stats *ret_stats)
{
	const struct process *process;
	uint32_t at = 0;
	struct proc_stats stats = {
		.dropped = procs->dropped,
		.kin = procs->kin.count,
		.kin_dropped = procs->kin.dropped,
	};

	while ((process = pid_table_next(&procs->by_pid, &at))) {
		stats.processes++;
		for (const struct program *program = process->newest; program;
		     program = program->older) {
			stats.images++;
			stats.mappings += mapping_set_count(program->image.set);
		}
	}
	stats.mapping_bytes = procs->room.shares.taken;
	stats.mappings_refused = procs->room.refused;
	stats.put_off = procs->put_off;
	*ret_stats = stats;
}
