/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct frame_row - how to get from a frame to its caller while the program counter is in a range:
 * what call frame information (object/ehframe.h) and the analysis of instructions (unwind/follow.h)
 * both come to, and what unwind/table.h makes compact. Only what a stack walk needs: the CFA, the
 * frame pointer and the return address. Registers have their DWARF numbers, x86-64's return address
 * is column 16, arm64's is x30.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The CFA: the value of the stack pointer in the caller, just before the call pushed anything. */
enum cfa_kind {
	CFA_OTHER,    /* a rule that none of these can express */
	CFA_REGISTER, /* reg + offset */
	CFA_DEREF,    /* *(reg + offset) + add */
	CFA_PLT,      /* x86-64 PLT entries: rsp + 8, and 8 more where pc & 15 >= offset */
};

enum save_kind {
	SAVE_OTHER,     /* a rule that none of these can express */
	SAVE_SAME,      /* unchanged */
	SAVE_UNDEFINED, /* for the return address: this is the outermost frame */
	SAVE_AT_CFA,    /* *(CFA + offset) */
	SAVE_AT,        /* *(reg + offset), reg's value in this frame */
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

struct frame_row {
	uint64_t start, end; /* own addresses of the file, start < end */
	struct cfa cfa;
	struct save fp, ra;
	bool signal_frame; /* the kernel's: it says where everything is, whatever the rest says */
	/* These hold of a leaf. In a caller the frame pointer leads on, on whatever stack that is:
	 * Go's runtime switches stacks, and its frame pointers follow. */
	bool chained;
};

/* Non-zero stops whoever calls it, and is returned from there. */
typedef int frame_row_fn(const struct frame_row *row, void *ctx);
