/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Turns call frame instructions (DWARF 5 section 6.4.2, and the additions of GNU and arm64) into
 * rows. The instructions are untrusted: work is linear in their length, memory is fixed.
 */
#pragma once

#include "cfi/frame_row.h"

#include <stddef.h>

/* A sequence of instructions. */
struct cfi_code {
	const uint8_t *bytes;
	size_t len;
	uint64_t address; /* own address of the first byte; pointers may be relative to it */
};

/* What instructions change: the rules for the CFA and for the registers of a row. */
struct cfi_rules {
	struct cfa cfa;
	struct save fp, ra;
	struct save sp; /* SAVE_SAME: the caller's is the CFA, as in almost all code */
};

/* What a CIE defines for all FDEs that refer to it. */
struct cfi_common {
	uint64_t code_align;
	int64_t data_align;
	uint64_t fp_register, ra_register; /* DWARF numbers */
	uint8_t pointer_encoding;          /* DW_EH_PE_ */
	uint8_t address_bytes;
	bool signal_frame;
	struct cfi_rules initial; /* the result of the initial instructions, set by cfi_begin() */
};

/* Runs the initial instructions of a CIE. -EBADMSG: they cannot be understood. */
int cfi_begin(struct cfi_common *common, const struct cfi_code *code);
/* Calls fn for each row of [start, end) in ascending order; neighbouring rows differ. Returns 0;
 * -EBADMSG when the instructions cannot be understood from some point on, after the rows before
 * that point were reported; or what fn returned. */
int cfi_each_row(const struct cfi_common *common, const struct cfi_code *code, uint64_t start,
                 uint64_t end, frame_row_fn *fn, void *ctx);

/* Whether two rows say the same about different addresses. */
bool cfi_same_rules(const struct frame_row *left, const struct frame_row *right);
