/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the table forgets. There are two lists, so that a drain goes only through processes with
 * something to forget: processes that ended, in the order of their exit records, and living
 * processes that have run another program before. When the table is full, it forgets living ones as
 * well.
 */
#include "proc/proc_private.h"

#include "base/bounds.h"
#include "base/clock.h"
#include "proc/owner.h"

#include <utlist.h>

enum {
	LOOKED_AT = 256,
	LOOKED_AT_MOST = 2048,
	OWNERS_READ = 4, /* in a search; each is a file of /proc */
};

/* Reads /proc only when the process may live on in other threads. */
bool process_has_ended(const struct process *process)
{
	return process->exited && (process->alone || scan_threads(process->pid) <= 1);
}

void procs_list(struct procs *procs, struct process *process)
{
	if (process->list)
		DL_DELETE(*process->list, process);
	process->list = process->exited          ? &procs->ended
	                : process->newest->older ? &procs->replaced
	                                         : NULL;
	if (process->list)
		DL_APPEND(*process->list, process);
}

static void drop_replaced(struct procs *procs, struct process *process, uint64_t mono_ns)
{
	struct program *program = process->newest;

	/* A program is replaced at the start of its successor. */
	while (program->older && program->image.start_mono_ns >= mono_ns)
		program = program->older;
	while (program->older) {
		struct program *old = program->older;

		program->cut = true;
		program->older = old->older;
		program_free(procs, old);
	}
}

void procs_forget_replaced(struct procs *procs, struct process *process)
{
	/* Once per drain is enough: a process that calls exec all the time has thousands of
	 * replaced programs that must not be forgotten yet. */
	if (process->forgotten_ns != procs->forgotten_ns)
		drop_replaced(procs, process, procs->forgotten_ns);
	process->forgotten_ns = procs->forgotten_ns;
	if (procs->programs <= MAX_IMAGES || !process->newest->older)
		return;
	procs->dropped++;
	drop_replaced(procs, process, UINT64_MAX);
}

static void forget(struct procs *procs, struct process *process)
{
	if (process->told)
		procs_tell_now(procs, process->pid);
	process_remember(procs, process);
	process_free(procs, process);
}

/* The process lives on in other threads. */
static void keep(struct procs *procs, struct process *process, uint64_t mono_ns)
{
	drop_replaced(procs, process, mono_ns);
	process->exit_mono_ns = mono_ns;
	procs_list(procs, process);
}

void procs_expire(struct procs *procs, uint64_t mono_ns)
{
	struct process *process, *next;

	procs->forgotten_ns = mono_ns;
	procs->drains++;
	procs->searched_in_vain = false;
	procs_be_patient(procs);
	procs_tell_of_large(procs);
	for (process = procs->replaced; process; process = next) {
		next = process->next;
		drop_replaced(procs, process, mono_ns);
		if (!process->newest->older)
			procs_list(procs, process);
	}
	while ((process = procs->ended) && process->exit_mono_ns < mono_ns) {
		if (process_has_ended(process))
			forget(procs, process);
		else
			keep(procs, process, mono_ns);
	}
	procs_settle_kin(procs, mono_ns);
	procs_close_unmapped(procs);
}

static uint32_t age_of(const struct procs *procs, const struct process *process)
{
	return procs->drains - process->used;
}

static void learn_owner(struct procs *procs, struct process *process)
{
	uint32_t owner = owner_read(process->pid);

	if (owner != OWNER_UNKNOWN && shares_add(&procs->owners, owner, 1))
		process->owner = owner;
}

/* Whether it gives way rather than another: it is one of the owner that has most, or was asked for
 * longer ago. */
static bool is_before(const struct procs *procs, const struct process *process,
                      const struct process *other, uint64_t largest)
{
	bool is_of_largest = process->owner == largest;

	if (is_of_largest != (other->owner == largest))
		return is_of_largest;
	return age_of(procs, process) > age_of(procs, other);
}

/* Goes round the table, some processes further each time, and takes one of these that was not asked
 * for since the last drain but one: the drain under way may still use the others. Where there is
 * none, there is no other search until the next drain. */
static struct process *seldom_used(struct procs *procs)
{
	uint64_t largest = UINT64_MAX;
	struct process *process, *found = NULL;
	int read = 0;

	if (procs->searched_in_vain)
		return NULL;
	shares_largest(&procs->owners, &largest);
	for (int i = 0; i < (found ? LOOKED_AT : LOOKED_AT_MOST); i++) {
		process = pid_table_next(&procs->by_pid, &procs->hand);
		if (!process)
			procs->hand = 0;
		if (!process || age_of(procs, process) < 2 || process->is_read)
			continue;
		if (process->owner == OWNER_UNKNOWN && read++ < OWNERS_READ)
			learn_owner(procs, process);
		if (!found || is_before(procs, process, found, largest))
			found = process;
	}
	procs->searched_in_vain = !found;
	return found;
}

void procs_make_room(struct procs *procs)
{
	struct process *oldest = procs->ended;

	if (oldest && !process_has_ended(oldest)) {
		keep(procs, oldest, oldest->exit_mono_ns);
		oldest = NULL;
	}
	if (!oldest) {
		oldest = seldom_used(procs);
		if (!oldest)
			return;
		oldest->exit_mono_ns = clock_mono_ns();
	}
	procs->dropped++;
	forget(procs, oldest);
}
