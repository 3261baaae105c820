/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Rows as text, so that a test's expectation is one string.
 */
#pragma once

#include "cfi/frame_row.h"

struct frame_text {
	char text[2048];
	int count, stop_after;
};

/* A frame_row_fn: appends "START-END CFA FP RA;" with addresses in hex. Before the ; it writes " S"
 * for a signal frame and " C" for a chained one. CFA: r7+8, [r7+8]+8 for a dereference, plt11, ?.
 * FP and RA: = unchanged, u undefined, c-16 saved at an offset from the CFA, [r7+8] at one from a
 * register, r5 in a register, ?. Returns 7 at the row `stop_after`. */
int frame_text_row(const struct frame_row *row, void *frame_text);
