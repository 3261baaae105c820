/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The identities of the processes of the table. An identity is read at the first request for it and
 * not when the process starts, because most processes are never sampled. A process that is gone by
 * then most likely had the identity of its parent, which is used instead.
 */
#include "base/clock.h"
#include "proc/proc_private.h"

enum { MAX_ANCESTORS = 16 }; /* of a process that is gone: make, sh, cc, cc1 and the like */

/* A process may be moved to another cgroup at any time. Most are moved when they start, by
 * themselves or by the process that started them, and seldom later. */
static const uint64_t max_age_ns = 60 * NSEC_PER_SEC;

void program_forked(struct program *program, uint32_t parent_pid, const struct process *parent)
{
	/* A process that init starts is moved to a cgroup of its own at once. */
	if (parent_pid <= 1)
		return;
	program->parent_pid = parent_pid;
	program->forked_mono_ns = program->image.start_mono_ns;
	if (parent)
		program->identity = identity_ref(parent->newest->identity);
}

void program_execed(struct program *program)
{
	const struct program *before = program->older;

	if (!before)
		return;
	program->parent_pid = before->parent_pid;
	program->forked_mono_ns = before->forked_mono_ns;
	program->identity = identity_ref(before->identity);
}

/* An identity that was read when the program was young soon counts as old. */
static bool is_fresh(const struct program *program, uint64_t now_ns)
{
	uint64_t age_ns = program->identity_ns - program->image.start_mono_ns;

	return program->identity_ns &&
	       now_ns - program->identity_ns < (age_ns < max_age_ns ? age_ns : max_age_ns);
}

/* Keeps the known identity when it cannot be read any more. */
static void refresh(const struct process *process, struct program *program)
{
	uint64_t now_ns = clock_mono_ns();
	struct identity *fresh;

	if (is_fresh(program, now_ns))
		return;
	program->identity_ns = now_ns;
	program->settled = false;
	/* /proc shows only the program that runs now. */
	if (program != process->newest || (process->exited && process->alone))
		return;
	if (identity_read(process->pid, program->identity, &fresh))
		return;
	identity_unref(program->identity);
	program->identity = fresh;
	program->own = true;
}

static struct program *parent_of(const struct procs *procs, const struct program *child)
{
	const struct process *process =
		child->parent_pid ? procs_find(procs, child->parent_pid) : NULL;
	struct program *parent;

	if (!process)
		return NULL;
	parent = process_program(process, child->forked_mono_ns);
	/* The pid may belong to another process by now. */
	if (!parent || parent->image.start_mono_ns > child->forked_mono_ns)
		return NULL;
	refresh(process, parent);
	return parent;
}

/* Copies the identity of the nearest ancestor whose identity was read. */
static void inherit(const struct procs *procs, struct program *program)
{
	const struct program *ancestor = program;

	for (int i = 0; i < MAX_ANCESTORS; i++) {
		ancestor = parent_of(procs, ancestor);
		if (!ancestor)
			return;
		if (ancestor->own) {
			identity_unref(program->identity);
			program->identity = identity_ref(ancestor->identity);
			return;
		}
	}
}

const struct identity *procs_identity(struct procs *procs, uint32_t pid, uint64_t mono_ns)
{
	const struct process *process = procs_find(procs, pid);
	struct program *program;

	if (!process)
		return NULL;
	program = process_program(process, mono_ns);
	if (!program)
		return NULL;
	refresh(process, program);
	if (!program->own && !program->settled) {
		program->settled = true;
		inherit(procs, program);
	}
	return program->identity;
}

struct identity *procs_identity_known(const struct procs *procs, uint32_t pid)
{
	const struct process *process = procs_find(procs, pid);
	const struct program *program = process ? process->newest : NULL;

	return program && program->own && is_fresh(program, clock_mono_ns()) ? program->identity
	                                                                     : NULL;
}
