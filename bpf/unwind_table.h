/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The unwind tables as the BPF programs and the daemon see them: memory that the daemon fills
 * through mmap and the walker reads without a helper call. Everything is fixed-width and
 * position-independent, so a table is placed by copying it.
 *
 * The operation for a frame is found in three steps:
 *
 *   pid -> slot -> the process's executable mappings, sorted, one contiguous run of `mappings`
 *   address -> mapping -> bias and table; address - bias is the executable's own address
 *   own address -> block of 256 bytes -> its rows, sorted -> the row's operation
 *
 * An executable with much text has a table for each 512 KiB of it, a piece. Pieces that samples
 * meet first can be built first, and pieces that no sample meets take no room. Their tables are
 * numbered consecutively.
 *
 * Words are in chunks, which come and go. A table is a run of words of one chunk; `base` says which
 * chunk and where the run begins:
 *
 *   [index: a word a block, filled up to whole rules][rules: four words each][rows: a word each]
 *
 *   index   first:24 | count-1:8   `first` counts words from the table's base; a block has 1 to 256
 *                                  rows, and the first of them always begins at the block's first
 *                                  byte (the row before, carried in), so a search never leaves it
 *   row     low:8 | op:24          holds from byte `low` of the block up to the next row
 *   op      base:2 | ...           how to get from this frame to its caller, below
 */
#pragma once

#include "bpf/abi.h"

enum {
	BLOCK_BITS = 8,
	BLOCK_BYTES = 1 << BLOCK_BITS,
	INDEX_FIRST_BITS = 24,
	ROW_OP_BITS = 24,
	OP_BASE_SHIFT = 22,
	OP_MASK = (1 << ROW_OP_BITS) - 1,
	OP_VALUE_MASK = (1 << OP_BASE_SHIFT) - 1,
	RULE_WORDS = 4,
	PIECE_BITS = 19,
	PIECE_BYTES = 1 << PIECE_BITS,
	CHUNK_BITS = 16,
	CHUNK_WORDS = 1 << CHUNK_BITS,
	/* The walker checks that a block's rows begin before the chunk's end less this many
	 * words. */
	CHUNK_SLACK = BLOCK_BYTES,
};

/* What the CFA (the stack pointer's value in the caller, at the call) is computed from. */
enum op_base {
	OP_SP,    /* the stack pointer */
	OP_FP,    /* the frame pointer register */
	OP_RULE,  /* value: the place of the rule to apply, in rules from the table's base */
	OP_NAMED, /* value: an enum op_name in the low 8 bits, its argument in the next 8 */
};

/*
 * x86-64, OP_SP and OP_FP: cfa:12 | chained:1 | fp:9, cfa and fp in words of 8 bytes.
 * CFA = base + 8 * cfa; the return address is at CFA - 8; the caller's rbp is at CFA - 8 * fp, or
 * unchanged where fp is 0. `chained`: the above holds for a leaf only; in a caller, rbp points to
 * the saved rbp and the return address, on whatever stack these are, and 0 means that there is no
 * caller.
 */
enum {
	X86_CFA_SHIFT = 10,
	X86_CFA_MAX = (1 << 12) - 1,
	X86_CHAINED = 1 << 9,
	X86_FP_MAX = (1 << 9) - 1,
};

/*
 * arm64, OP_SP and OP_FP: cfa:11 | ra:10 | pair:1. CFA = base + 16 * cfa; the return address is at
 * CFA - 8 * ra, or still in x30 where ra is 0 (which is true of a leaf only); with `pair` the
 * caller's x29 is in the word below the return address, else x29 is unchanged.
 */
enum {
	ARM64_CFA_SHIFT = 11,
	ARM64_CFA_MAX = (1 << 11) - 1,
	ARM64_RA_SHIFT = 1,
	ARM64_RA_MAX = (1 << 10) - 1,
	ARM64_PAIR = 1,
};

enum op_name {
	OP_NONE,        /* no unwind information: try the frame pointer */
	OP_UNSUPPORTED, /* described, but not in a way that a row or a rule can express */
	OP_STOP,        /* the outermost frame: the stack is whole */
	OP_SIGNAL,      /* the kernel's signal frame: all registers are saved on the stack */
	OP_PLT,         /* x86-64: CFA = rsp + 8, and 8 more where pc & 15 >= the argument */
};

/* Registers by their DWARF number; all are known in the frame from which the walk starts. */
enum {
	X86_REG_FP = 6, /* rbp */
	X86_REG_SP = 7,
	X86_REG_PC = 16,
	ARM64_REG_FP = 29,
	ARM64_REG_LR = 30,
	ARM64_REG_SP = 31,
	ARM64_REG_PC = 32,
	MAX_REGS = 33,
};

enum rule_cfa {
	RULE_CFA_REGISTER, /* register + cfa_offset */
	RULE_CFA_DEREF,    /* *(register + cfa_offset) + cfa_add */
};

/* Where the value of a register of the caller is. */
enum rule_where {
	RULE_SAME,        /* unchanged */
	RULE_AT_CFA,      /* *(CFA + offset) */
	RULE_AT_REGISTER, /* *(register + offset), the register's value in this frame */
	RULE_IN_REGISTER, /* in another register */
};

/* Registers other than the stack and frame pointer are known in a leaf only: a rule that needs one
 * in another frame truncates the stack. */
struct unwind_rule {
	unsigned char cfa, cfa_register;
	unsigned char fp, fp_register;
	unsigned char ra, ra_register;
	short cfa_add;
	int cfa_offset;
	short fp_offset, ra_offset;
};
_Static_assert(sizeof(struct unwind_rule) == 4 * RULE_WORDS, "shared layout");

/* One for each executable, or piece of one. The daemon writes all members but the last three. It
 * writes `base` last; `base` is 0 while there is no table. */
struct unwind_table {
	u64 text; /* own address of the first block's first byte, a multiple of BLOCK_BYTES */
	u32 blocks;
	u32 base;   /* chunk << CHUNK_BITS | word in it */
	u32 why;    /* an enum table_state: why base is 0 */
	u32 used;   /* written by the walker: the epoch of the latest walk through it */
	u32 missed; /* written by the walker: how many frames wanted it while base was 0 */
	u32 gaps;   /* written by the walker: how many frames it had no row for */
};
_Static_assert(sizeof(struct unwind_table) == 32, "shared layout");

enum table_state {
	TABLE_PENDING, /* not built yet, or evicted */
	TABLE_NOTHING, /* the file describes no frames, or is no executable file */
	TABLE_NO_ROOM, /* it does not fit, or not beside the tables in use */
	TABLE_READY,
};

/* An executable mapping of a process; mappings of a run are sorted and do not overlap. */
struct unwind_mapping {
	u64 start, end;
	u64 bias;   /* address - bias is the executable's own address */
	u32 table;  /* the table for `start`; 0: none, as for anonymous memory */
	u32 pieces; /* pieces that follow, each with the next table; 0: one table covers all of it
	             */
};
_Static_assert(sizeof(struct unwind_mapping) == 32, "shared layout");

/*
 * Slots are a hash table with buckets of 8, by the low bits of the pid; 0 is a free slot. A slot is
 * one word, so that it changes at once: pid:22 | first:24 | count:18, where `first` and `count` are
 * the run in `mappings`. 22 bits is the kernel's own limit of pids (PID_MAX_LIMIT).
 */
enum {
	SLOTS_PER_BUCKET = 8,
	SLOT_PID_SHIFT = 42,
	SLOT_FIRST_SHIFT = 18,
	SLOT_FIRST_MAX = (1 << 24) - 1,
	SLOT_COUNT_MAX = (1 << 18) - 1,
};

/*
 * Times at which processes called exec, CLOCK_MONOTONIC, by the low bits of the pid. The BPF
 * programs write the time before they clear the slot. Nothing that is older than this time may be
 * published, or stay published.
 */
enum { EXEC_TIMES = 4096 };
