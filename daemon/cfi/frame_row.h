/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct frame_row - how to get from a frame to its caller while the program counter is in a range.
 * Call frame information (cfi/ehframe.h) and the analysis of instructions (follow/follow.h) both
 * produce rows, and unwind/table.h makes them compact. A row has only what a stack walk needs: the
 * CFA, the frame pointer and the return address. Registers have their DWARF numbers; the return
 * address is column 16 on x86-64 and x30 on arm64.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The CFA: the value of the caller's stack pointer just before the call pushed anything. */
enum cfa_kind {
	CFA_OTHER,    /* a rule that no other kind can express */
	CFA_REGISTER, /* reg + offset */
	CFA_DEREF,    /* *(reg + offset) + add */
	CFA_PLT,      /* x86-64 PLT entries: rsp + 8, and 8 more where pc & 15 >= offset */
};

enum save_kind {
	SAVE_OTHER,     /* a rule that no other kind can express */
	SAVE_SAME,      /* unchanged */
	SAVE_UNDEFINED, /* for the return address: this is the outermost frame */
	SAVE_AT_CFA,    /* *(CFA + offset) */
	SAVE_AT,        /* *(reg + offset), with reg's value in this frame */
	SAVE_IN,        /* in register reg */
};

struct cfa {
	enum cfa_kind kind;
	uint8_t reg;
	int64_t offset, add;
};

struct save {
	enum save_kind kind;
	uint8_t reg;
	int64_t offset;
};

/* A range of own addresses of a file. */
struct range {
	uint64_t start, end;
};

struct frame_row {
	uint64_t start, end; /* own addresses of the file, start < end */
	struct cfa cfa;
	struct save fp, ra;
	bool signal_frame; /* built by the kernel: holds all registers; the rules do not matter */
	/* The rules hold only for the innermost frame. In a caller the frame pointer is followed,
	 * on whatever stack: Go's runtime switches stacks, and its chain of frame pointers crosses
	 * them. */
	bool chained;
};

/* A non-zero value stops the walk, which returns that value. */
typedef int frame_row_fn(const struct frame_row *row, void *ctx);
