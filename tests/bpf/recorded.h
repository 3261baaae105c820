/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct recorded - a stack written by hand: an executable's rows, registers, the words of the
 * stack, and the frames that a walk must find.
 *
 * The executable has its own addresses [0, EXE_BYTES) and is mapped at EXE. At BARE is an
 * executable mapping without a table, like that of a JIT compiler. Nothing else is mapped.
 */
#pragma once

#include "cfi/frame_row.h"
#include "tests/bpf/memory.h"
#include "tests/bpf/world.h"

#include "unwind/table.h"

enum { RECORDED_PID = 4242, MAX_RECORDED = 40 };

#define EXE        0x555555554000ULL
#define EXE_BYTES  0x10000ULL
#define BARE       0x7f0000000000ULL
#define STACK      0x7ffc00010000ULL
#define TRAMPOLINE 0x7fffffffe000ULL /* of return probes */

/* Notation for rows. x86-64 has rules for registers 6 and 7, arm64 for 29 and 31, depending on the
 * suite. */
#define AT_CFA(n)                 \
	{                         \
		SAVE_AT_CFA, 0, n \
	}
#define AT_REG(r, n)          \
	{                     \
		SAVE_AT, r, n \
	}
#define IN_REG(r)             \
	{                     \
		SAVE_IN, r, 0 \
	}
#define SAME                    \
	{                       \
		SAVE_SAME, 0, 0 \
	}
#define OUTERMOST                    \
	{                            \
		SAVE_UNDEFINED, 0, 0 \
	}
#define CFA_REG(r, n)                 \
	{                             \
		CFA_REGISTER, r, n, 0 \
	}
#define CFA_AT(r, n, added)            \
	{                              \
		CFA_DEREF, r, n, added \
	}

struct recorded_register {
	u32 number; /* its DWARF number */
	u64 value;
};

struct recorded_word {
	u64 address, value;
};

struct recorded {
	const char *name;
	struct frame_row rows[MAX_RECORDED]; /* up to one with end 0 */
	u64 pc, sp, fp;
	struct recorded_register registers[8];    /* up to one with value 0 */
	struct recorded_word words[MAX_RECORDED]; /* up to one with address 0 */
	struct walker_return returns[8];          /* awaited by probes, up to one with stack 0 */
	u64 frames[MAX_RECORDED];                 /* the frames that must be found, up to a 0 */
	u32 outcome;
};

/* A world with the executable's table and the mappings of RECORDED_PID; asserts. */
struct world *recorded_world(enum machine machine, const struct frame_row *rows);
void recorded_mappings(struct world *world, u32 table);
/* Walks, and asserts that frames and outcome are as recorded. */
void recorded_check(enum machine machine, const struct recorded *recorded);
/* The input of a walk. Registers have the machine's DWARF numbers. */
struct walker_input recorded_input(enum machine machine, const struct world *world,
                                   struct memory *memory, u64 pc, u64 sp, u64 fp);
void recorded_walk(enum machine machine, const struct walker_input *input,
                   struct walker_result *ret_result);
