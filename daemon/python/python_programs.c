/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The end of a thread is not reported. The kernel half reports each sampled thread again, so
 * forgetting a thread that still runs costs one more report.
 */
#include "python/python_programs.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "bpf/python.h"

#include <stdlib.h>

enum {
	MAX_PROGRAMS = MAX_PYTHON_PROCESSES,
	MAX_THREADS = 16384, /* of all programs; with names of the maximum length they take 6 MiB */
};

#define FORGET_NS (180 * NSEC_PER_SEC) /* a sampled thread is reported every 69 s */
#define SWEEP_NS  (10 * NSEC_PER_SEC)

void python_programs_name(struct python_programs *programs, struct python_program_thread *thread,
                          char *name)
{
	programs->named += (name != NULL) - (size_t)(thread->name != NULL);
	free(thread->name);
	thread->name = name;
}

static void drop_thread(struct python_programs *programs, struct python_program *program,
                        struct python_program_thread *thread)
{
	python_programs_name(programs, thread, NULL);
	HASH_DEL(program->threads, thread);
	shares_give(&programs->thread_shares, program->owner, 1);
	programs->threads--;
	free(thread);
}

static void drop_program(struct python_programs *programs, struct python_program *program)
{
	struct python_program_thread *thread, *next;

	HASH_ITER (hh, program->threads, thread, next)
		drop_thread(programs, program, thread);
	HASH_DEL(programs->by_key, program);
	shares_give(&programs->program_shares, program->owner, 1);
	free(program);
}

void python_programs_init(struct python_programs *programs)
{
	*programs = (struct python_programs){
		.program_shares.whole = MAX_PROGRAMS,
		.thread_shares.whole = MAX_THREADS,
	};
}

void python_programs_release(struct python_programs *programs)
{
	struct python_program *program, *next;

	HASH_ITER (hh, programs->by_key, program, next)
		drop_program(programs, program);
	shares_clear(&programs->program_shares);
	shares_clear(&programs->thread_shares);
}

struct python_program *python_programs_find(const struct python_programs *programs, uint32_t pid,
                                            uint32_t image)
{
	const struct python_program_key key = {pid, image};
	struct python_program *program;

	HASH_FIND(hh, programs->by_key, &key, sizeof(key), program);
	return program;
}

struct python_program_thread *python_program_thread(const struct python_program *program,
                                                    uint32_t tid)
{
	struct python_program_thread *thread;

	HASH_FIND(hh, program->threads, &tid, sizeof(tid), thread);
	return thread;
}

struct python_program *python_programs_add(struct python_programs *programs, uint32_t pid,
                                           uint32_t image, uint32_t owner)
{
	struct python_program *program = python_programs_find(programs, pid, image);

	if (program)
		return program;
	if (!shares_take(&programs->program_shares, owner, 1))
		return NULL;
	program = calloc(1, sizeof(*program));
	if (program) {
		program->key = (struct python_program_key){pid, image};
		program->owner = owner;
		HASH_ADD(hh, programs->by_key, key, sizeof(program->key), program);
		if (program->hh.tbl)
			return program;
	}
	shares_give(&programs->program_shares, owner, 1);
	free(program);
	return NULL;
}

struct python_program_thread *python_program_add(struct python_programs *programs,
                                                 struct python_program *program, uint32_t tid)
{
	struct python_program_thread *thread = python_program_thread(program, tid);

	if (thread)
		return thread;
	if (HASH_COUNT(program->threads) >= MAX_PYTHON_NAMED ||
	    !shares_take(&programs->thread_shares, program->owner, 1))
		return NULL;
	thread = calloc(1, sizeof(*thread));
	if (thread) {
		thread->tid = tid;
		HASH_ADD(hh, program->threads, tid, sizeof(thread->tid), thread);
		if (thread->hh.tbl) {
			programs->threads++;
			return thread;
		}
	}
	shares_give(&programs->thread_shares, program->owner, 1);
	free(thread);
	return NULL;
}

void python_program_give_ident(struct python_program *program, struct python_program_thread *thread,
                               uint64_t ident)
{
	struct python_program_thread *other, *next;

	HASH_ITER (hh, program->threads, other, next)
		if (other->ident == ident)
			other->ident = 0;
	thread->ident = ident;
}

void python_programs_sweep(struct python_programs *programs, const struct python_program *kept,
                           uint64_t now)
{
	struct python_program *program, *next_program;
	struct python_program_thread *thread, *next;

	if (now - programs->swept_ns < SWEEP_NS)
		return;
	programs->swept_ns = now;
	HASH_ITER (hh, programs->by_key, program, next_program) {
		HASH_ITER (hh, program->threads, thread, next)
			if (now - thread->asked_ns > FORGET_NS)
				drop_thread(programs, program, thread);
		if (!program->threads && program != kept)
			drop_program(programs, program);
	}
}

void python_programs_note(struct python_programs *programs, const struct python_program *program,
                          uint64_t cost_ns)
{
	turns_note(&programs->turns, program->owner, cost_ns);
}

struct python_program *python_programs_due(struct python_programs *programs, uint64_t now)
{
	struct python_program *program, *next, *first = NULL;
	uint64_t least = 0;

	turns_age(&programs->turns, now);
	HASH_ITER (hh, programs->by_key, program, next) {
		uint64_t used = UINT64_MAX; /* not due yet: behind all that are */

		if (!program->due_ns)
			continue;
		if (program->due_ns <= now)
			used = turns_used(&programs->turns, program->owner);
		if (first && (used > least || (used == least && program->due_ns >= first->due_ns)))
			continue;
		first = program;
		least = used;
	}
	return first;
}
