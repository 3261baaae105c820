/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Signal restorers: the code that a signal handler returns to, recognized by what the kernel
 * prescribes, a system call of one number.
 */
#pragma once

#include "unwind/follow_gaps.h"

/* Calls fn with a row for each in the gaps; 0 or what fn returned. It begins one byte early, since
 * a return address is looked up by the byte before it, and nobody called this one. */
int follow_signal_restorers(struct gaps *gaps, frame_row_fn *fn, void *ctx);
