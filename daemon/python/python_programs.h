/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct python_programs - the threads of Python programs that were reported, by program and tid,
 * and when the names of each program's threads are read next. Bounded, with a share for each user;
 * threads that are no longer asked for are forgotten. Owned by struct python_threads. Loop thread
 * only.
 */
#pragma once

#include "base/shares.h"
#include "base/turns.h"
#include "cpython/python_names.h"
#include "base/table.h"

#include <stdbool.h>
#include <stdint.h>

struct python_program_thread {
	uint32_t tid;
	uint64_t ident; /* 0: another thread has the ident now, and this one keeps its name */
	uint64_t asked_ns;
	char *name; /* NULL: unknown */
	UT_hash_handle hh;
};

struct python_program_key {
	uint32_t pid, image; /* as in tally_key */
};

struct python_program {
	struct python_program_key key;
	uint32_t owner;                        /* user that runs the program */
	struct python_program_thread *threads; /* hash by tid */
	uint64_t began_ns;                     /* start of its process; CLOCK_BOOTTIME */
	uint64_t seen_ns;                      /* when it last ran, as the kernel half reported */
	uint64_t due_ns;                       /* when it is to be read; 0: not at all */
	uint64_t read_ns;                      /* when it was last read */
	uint64_t rest_ns, cost_ns; /* pause until the next reading; CPU time of the last */
	unsigned int retries;      /* retries that are left */
	bool has_names;            /* a name was found for one of its threads */
	struct python_dicts dicts;
	UT_hash_handle hh;
};

struct python_programs {
	struct python_program *by_key;
	size_t threads, named;                       /* of all programs */
	struct shares program_shares, thread_shares; /* by user */
	struct turns turns;                          /* CPU time of readings, by user */
	uint64_t swept_ns;
};

void python_programs_init(struct python_programs *programs);
void python_programs_release(struct python_programs *programs);
/* NULL when the program is unknown. */
struct python_program *python_programs_find(const struct python_programs *programs, uint32_t pid,
                                            uint32_t image);
struct python_program_thread *python_program_thread(const struct python_program *program,
                                                    uint32_t tid);
/* Returns the existing program or thread, or adds one for that user. NULL when there is no room, or
 * the user's share is full. */
struct python_program *python_programs_add(struct python_programs *programs, uint32_t pid,
                                           uint32_t image, uint32_t owner);
struct python_program_thread *python_program_add(struct python_programs *programs,
                                                 struct python_program *program, uint32_t tid);
/* Sets the thread's name and takes ownership of it; NULL: no name. */
void python_programs_name(struct python_programs *programs, struct python_program_thread *thread,
                          char *name);
/* Sets the thread's ident, and removes it from any other thread. That thread has ended, and keeps
 * its name. */
void python_program_give_ident(struct python_program *program, struct python_program_thread *thread,
                               uint64_t ident);
/* Forgets, now and then, threads that were neither reported nor sampled for long, and programs
 * without threads, except for `kept`. */
void python_programs_sweep(struct python_programs *programs, const struct python_program *kept,
                           uint64_t now);
/* Charges the user for a reading of the program. */
void python_programs_note(struct python_programs *programs, const struct python_program *program,
                          uint64_t cost_ns);
/* Of the programs that are due, one of the user whose readings cost least lately: that which has
 * been due for longest. If none is due yet, the one that is due next; NULL: there is none. */
struct python_program *python_programs_due(struct python_programs *programs, uint64_t now);
