/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The program that the library is in: what it launches, and what it sees of it.
 */
#pragma once

#include "tests/cuda_helper/fake_cupti.h"

int InitializeInjection(void); /* the library's */

/* Of the command line: the stand-in for CUPTI, and that of a driver of CUDA 12. */
extern const char *cupti_path, *driver_path;
/* Of that stand-in for CUPTI, once the program has begun. */
extern void (*launch_fake)(const struct fake_launch *);
extern void (*hold)(int), (*keep_buffers)(int);

/* Names of kernels. */
extern const char long_one[], middle[], small_one[];

void program_begin(void);
struct fake_counts counts_now(void);
void pause_ms(long ms);
/* Until what is under way was told: two looks of the library's thread. */
void settle(void);
/* 1, 3 and 10 launches each time: 60, 30 and 10 % of the time. */
void launch_cycles(int cycles);
/* What comes on standard error from now on is read from what this returns. */
int catch_lines(void);
const char *lines_said(int from);
