/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Periodically closes files that no process of the table maps any more. Each takes a descriptor,
 * and a process that maps thousands of files would otherwise hold their descriptors until others
 * are needed.
 */
#include "base/clock.h"
#include "proc/proc_private.h"

static const uint64_t round_ns = 10 * NSEC_PER_SEC;

static void note(uint32_t object, void *ctx)
{
	store_is_mapped(ctx, object);
}

void procs_close_unmapped(struct procs *procs)
{
	struct store *store = procs->finder.store;
	uint64_t now_ns = clock_mono_ns();
	const struct process *process;
	uint32_t at = 0;

	if (now_ns - procs->swept_ns < round_ns)
		return;
	procs->swept_ns = now_ns;
	procs->sweeps++;
	store_sweep_begin(store);
	while ((process = pid_table_next(&procs->by_pid, &at)))
		for (struct program *program = process->newest; program; program = program->older)
			mapping_set_each_object(program->image.set, procs->sweeps, note, store);
	store_sweep_end(store, round_ns);
}
