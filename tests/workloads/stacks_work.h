/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Shared by the stacks_ programs. They are compiled without frame pointers, so their stacks can be
 * walked by .eh_frame only, and rbp is an ordinary register in them.
 */
#pragma once

#include "work.h"

/* A function that appears in every stack: never inlined, cloned or analysed by its callers. */
#define FRAME __attribute__((noipa))

/* WORK() without a frame: it does not use the frame address, which would make the compiler set up
 * a frame pointer. */
#define SPIN(count)                                                                \
	do {                                                                       \
		uint64_t spin_x = 1;                                               \
		for (uint64_t spin_i = (count); spin_i != 0; spin_i--) {           \
			spin_x = spin_x * 6364136223846793005ULL + 1;              \
			__asm__ volatile("" : "+r"(spin_x)); /* keeps the chain */ \
		}                                                                  \
	} while (0)

/* Six values that are live across the call occupy every callee-saved register including rbp, so
 * rbp holds no frame address during the call. */
#define HOLD_REGISTERS_ACROSS(call)                                      \
	do {                                                             \
		uint64_t r1 = 1, r2 = 2, r3 = 3, r4 = 4, r5 = 5, r6 = 6; \
		__asm__ volatile("" : "+r"(r1), "+r"(r2), "+r"(r3));     \
		__asm__ volatile("" : "+r"(r4), "+r"(r5), "+r"(r6));     \
		call;                                                    \
		__asm__ volatile("" : : "r"(r1), "r"(r2), "r"(r3));      \
		__asm__ volatile("" : : "r"(r4), "r"(r5), "r"(r6));      \
	} while (0)
