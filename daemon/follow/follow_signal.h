/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Signal restorers: the code that a signal handler returns to. It is recognized by what the kernel
 * prescribes: a system call with a fixed number.
 */
#pragma once

#include "follow/follow_gaps.h"

/* Calls fn with a row for each restorer in the gaps. Returns 0 or what fn returned. A row begins
 * one byte early, because a return address is looked up by the byte before it, and no call
 * instruction precedes a restorer. */
int follow_signal_restorers(struct gaps *gaps, frame_row_fn *fn, void *ctx);
