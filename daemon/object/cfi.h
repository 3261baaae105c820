/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Call frame instructions (DWARF 5 section 6.4.2, and GNU's and arm64's additions) turned into
 * rows. Instructions are untrusted: work is linear in their length, memory is fixed.
 */
#pragma once

#include "object/frame_row.h"

#include <stddef.h>

/* A run of instructions. */
struct cfi_code {
	const uint8_t *bytes;
	size_t len;
	uint64_t address; /* own address of the first byte, which pointers may be relative to */
};

/* What instructions change: where the CFA and the registers of a row are. */
struct cfi_rules {
	struct cfa cfa;
	struct save fp, ra;
	struct save sp; /* SAVE_SAME: the caller's is the CFA, as almost always */
};

/* What a CIE says, for all FDEs that refer to it. */
struct cfi_common {
	uint64_t code_align;
	int64_t data_align;
	uint64_t fp_register, ra_register; /* DWARF numbers */
	uint8_t pointer_encoding;          /* DW_EH_PE_ */
	uint8_t address_bytes;
	bool signal_frame;
	struct cfi_rules initial; /* what cfi_begin() makes of the initial instructions */
};

/* Runs a CIE's instructions. -EBADMSG when they cannot be understood. */
int cfi_begin(struct cfi_common *common, const struct cfi_code *code);
/* Calls fn for each row of [start, end), ascending; neighbours differ. 0; -EBADMSG when the
 * instructions cannot be understood from some place on, after the rows before it were reported; or
 * what fn returned. */
int cfi_each_row(const struct cfi_common *common, const struct cfi_code *code, uint64_t start,
                 uint64_t end, frame_row_fn *fn, void *ctx);

/* Rows that say the same of different addresses. */
bool cfi_same_rules(const struct frame_row *left, const struct frame_row *right);
