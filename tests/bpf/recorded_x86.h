/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Notation for x86-64 stacks, and the cases of their suite.
 */
#pragma once

#include "tests/bpf/recorded.h"

#include <check.h>

#define SP(n) CFA_REG(X86_REG_SP, n)
#define FP(n) CFA_REG(X86_REG_FP, n)
#define ROW(start, end, cfa, fp)                       \
	{                                              \
		start, end, cfa, fp, AT_CFA(-8), false \
	}
#define ROOT                                                         \
	{                                                            \
		0x3000, 0x3100, SP(8), SAME, OUTERMOST, false, false \
	}
#define IN_ROOT (EXE + 0x3020)

enum { RAX = 0, RDI = 5, R10 = 10 };

TCase *recorded_x86_kernel_case(void);
TCase *recorded_x86_without_case(void);
