/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Parents of processes, from the process table and from the memory of processes that have left it.
 */
#include "proc/proc_private.h"

void procs_note_fork(struct procs *procs, uint32_t pid)
{
	struct process *process = procs_find(procs, pid);

	if (process)
		process->forked = true;
}

void process_remember(struct procs *procs, const struct process *process)
{
	if (process->forked)
		kin_remember(&procs->kin, &(struct ended_process){process->parent, process->pid,
		                                                  process->exit_mono_ns});
}

void procs_settle_kin(struct procs *procs, uint64_t mono_ns)
{
	_cleanup_free_ uint8_t *needed = NULL;
	const struct process *process;
	uint32_t at = 0;

	if (!kin_is_due(&procs->kin, mono_ns))
		return;
	needed = calloc(1, KIN_NEEDED_BYTES);
	if (!needed)
		return; /* the next drain tries again */
	while ((process = pid_table_next(&procs->by_pid, &at)))
		kin_need(needed, process->parent);
	kin_settle(&procs->kin, needed, mono_ns);
}

void procs_find_remembered(const struct procs *procs, struct few_pids *few)
{
	for (size_t i = 0; few->count && i < procs->kin.count; i++)
		few_pids_pass(few, procs->kin.ended[i].pid);
}

void procs_each_kin(const struct procs *procs, kin_fn *fn, void *ctx)
{
	const struct process *process;
	uint32_t at = 0;

	while ((process = pid_table_next(&procs->by_pid, &at)))
		fn(process->parent, process->pid, ctx);
	for (size_t i = 0; i < procs->kin.count; i++)
		fn(procs->kin.ended[i].parent, procs->kin.ended[i].pid, ctx);
}
