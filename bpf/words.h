/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The words that a stack consists of, leaf first. The top byte says what kind of word it is.
 *
 *   0                        a native frame: the rest is its address
 *   WORD_OF(runtime) | name  a frame of interpreted code: the name stands for the code, as the
 *                            runtime reported it
 *   WORD_OFFSET | bytes      always follows a frame of interpreted code: where it is in that code
 *   WORD_LOOP | address      the native frame of the interpreter's loop that runs the interpreted
 *                            frames before it; marked because readers of a profile do not want to
 *                            see it
 *   WORD_KIND | rest         an address too: those of [vsyscall] have all bits of the top byte set
 */
#pragma once

#include "bpf/tables.h"

enum runtime_number {
	RUNTIME_NONE,
#define RUNTIME(name) RUNTIME_##name,
	RUNTIMES(RUNTIME)
#undef RUNTIME
		RUNTIME_COUNT
};

#define WORD_SHIFT           56
#define WORD_RUNTIME(number) ((unsigned long long)(number) << WORD_SHIFT)
#define WORD_OF(runtime)     WORD_RUNTIME(RUNTIME_##runtime)
#define WORD_OFFSET          (0x40ULL << WORD_SHIFT)
#define WORD_LOOP            (0x41ULL << WORD_SHIFT)
#define WORD_THREAD          (0x42ULL << WORD_SHIFT) /* never in a stack: reports a thread */
#define WORD_KIND            (0xffULL << WORD_SHIFT)
#define WORD_VALUE           (~WORD_KIND)

_Static_assert(RUNTIME_COUNT <= WORD_OFFSET >> WORD_SHIFT, "a number is a kind of word");
