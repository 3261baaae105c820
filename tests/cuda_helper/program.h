/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The program that contains the library: what it launches, and what it sees of the library.
 */
#pragma once

#include "tests/cuda_helper/fake_cupti.h"

int InitializeInjection(void); /* of the library */

/* From the command line: the stand-in for CUPTI, and the stand-in for a driver of CUDA 12. */
extern const char *cupti_path, *driver_path;
/* Functions of the stand-in for CUPTI, set by program_begin(). */
extern void (*launch_fake)(const struct fake_launch *);
extern void (*hold)(int), (*keep_buffers)(int);

/* Names of kernels. */
extern const char long_one[], middle[], small_one[];

void program_begin(void);
struct fake_counts counts_now(void);
void pause_ms(long ms);
/* Waits until everything under way was reported: two looks of the library's thread. */
void settle(void);
/* 1, 3 and 10 launches in each cycle: 60, 30 and 10 % of the time. */
void launch_cycles(int cycles);
/* Returns a descriptor from which everything written to standard error from now on can be read. */
int catch_lines(void);
const char *lines_said(int from);
