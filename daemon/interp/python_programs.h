/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct python_programs - the threads of Python programs that were told of, by program and tid,
 * and when each program is to be read for their names. Bounded, with a share for each user; who is
 * not asked for is forgotten.
 * Owned by struct python_threads. Loop thread only.
 */
#pragma once

#include "base/shares.h"
#include "interp/python_names.h"
#include "base/table.h"

#include <stdbool.h>
#include <stdint.h>

struct python_program_thread {
	uint32_t tid;
	uint64_t ident; /* 0: another thread has it now, and this one keeps its name */
	uint64_t asked_ns;
	char *name; /* NULL: not known */
	UT_hash_handle hh;
};

struct python_program_key {
	uint32_t pid, image; /* as of tally_key */
};

struct python_program {
	struct python_program_key key;
	uint32_t owner;                        /* whose it is */
	struct python_program_thread *threads; /* hash by tid */
	uint64_t began_ns;                     /* its process; CLOCK_BOOTTIME */
	uint64_t seen_ns;                      /* it ran, as the kernel half says */
	uint64_t due_ns;                       /* to be read then; 0: not */
	uint64_t read_ns;                      /* when it was last */
	uint64_t rest_ns, cost_ns;             /* until the next time; what the last one took */
	unsigned int retries;                  /* left */
	bool has_names;                        /* of its threads, one was found to have one */
	struct python_dicts dicts;
	UT_hash_handle hh;
};

struct python_programs {
	struct python_program *by_key;
	size_t threads, named;                       /* of all of them */
	struct shares program_shares, thread_shares; /* by user */
	uint64_t swept_ns;
};

void python_programs_init(struct python_programs *programs);
void python_programs_release(struct python_programs *programs);
/* NULL when there is none. */
struct python_program *python_programs_find(const struct python_programs *programs, uint32_t pid,
                                            uint32_t image);
struct python_program_thread *python_program_thread(const struct python_program *program,
                                                    uint32_t tid);
/* The one there is, or a new one of that user; NULL when there is no room, or none for him. */
struct python_program *python_programs_add(struct python_programs *programs, uint32_t pid,
                                           uint32_t image, uint32_t owner);
struct python_program_thread *python_program_add(struct python_programs *programs,
                                                 struct python_program *program, uint32_t tid);
/* The thread has this name, which is taken over; NULL: none. */
void python_programs_name(struct python_programs *programs, struct python_program_thread *thread,
                          char *name);
/* The thread has the ident, and no other one does: whose thread has ended keeps its name. */
void python_program_give_ident(struct python_program *program, struct python_program_thread *thread,
                               uint64_t ident);
/* Forgets, now and then, threads that were neither told of nor sampled for long, and programs
 * without threads; but not `kept`. */
void python_programs_sweep(struct python_programs *programs, const struct python_program *kept,
                           uint64_t now);
/* The one that is due longest, or next; NULL: none is. */
struct python_program *python_programs_due(const struct python_programs *programs);
