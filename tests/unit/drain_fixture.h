/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A drained half for tests: one imaginary process with mapped code and two code objects of Python,
 * and one tally with one stack. Made before each test, and freed after it.
 */
#pragma once

#include "ingest/drain.h"
#include "python/python_codes.h"
#include "tests/unit/suites.h"

enum { PID = 4000001 }; /* no process has it: above the kernel's default limit */

/* The words of a frame of Python, and of a frame of the interpreter's loop. 0xaa is main, 0xbb
 * work. */
#define P(signature) (WORD_PYTHON | (signature))
#define O(offset)    (WORD_OFFSET | (offset))
#define L(address)   (WORD_LOOP | (address))

extern struct python_codes *codes;
extern struct drain_tables drain_tables;
extern struct drain_losses losses;
extern struct tally_key key; /* of the tally */
extern struct tally tally;
extern struct stack_node nodes[]; /* of the stack, from its root on */

void drain_set_up(void);
void drain_tear_down(void);

/* Makes the nodes of one stack, which is divided from its root end, and returns their number.
 * key.user_stack becomes the key of the leaf's node. */
size_t put_stack(const u64 *words, size_t len);
/* The slice of the tally's kind, which has one sample; those of the other kinds have none. */
struct profile *drain(size_t stack_count);
/* The same with this stack. */
struct profile *drain_words(const u64 *words, size_t len);
