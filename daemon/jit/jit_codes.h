/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct jit_codes - the pieces of code that a program has generated, as it told them: sorted by
 * address, never overlapping. Code that is told later replaces all code that it overlaps, because
 * its memory was free by then. Pure; one thread at a time.
 */
#pragma once

#include "jit/jit_lines.h"
#include "jit/jit_ranges.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jit_code {
	uint64_t start, end;
	char *name;              /* owned */
	struct jit_lines *lines; /* the same; NULL: none are known */
	uint32_t name_bytes;
	uint32_t since : 31,      /* the number of the reading that told it; from 1 */
		has_replaced : 1; /* other code was told there before */
};

/* All zero: empty. */
struct jit_codes {
	struct jit_code *at;
	size_t count, capacity;
	struct jit_ranges told; /* all of it, from jit_codes_sort() to jit_codes_lay() */
};

enum { JIT_NAME_BYTES = 1024 + 1 }; /* of a name, with its NUL; longer ones are truncated */

/* Appends code; the whole is not sorted afterwards. `name` is copied, as text that may be shown.
 * Takes ownership of the lines, which may be NULL. What cannot be code is left out. -ENOMEM. */
int jit_codes_append(struct jit_codes *codes, uint64_t start, uint64_t size, const char *name,
                     size_t len, struct jit_lines *lines);
/* Sorts codes that were appended in the order in which they were told. -ENOMEM. */
int jit_codes_sort(struct jit_codes *codes);
/* Adds sorted codes that were told since, by the reading `since`; `told` is empty afterwards. Code
 * that is known already stays as it is. The ranges of replaced code are added to `gone`. -ENOMEM:
 * the codes are not to be used any more. */
int jit_codes_lay(struct jit_codes *codes, struct jit_codes *told, uint32_t since,
                  struct jit_ranges *gone);
/* Drops the codes, but not the knowledge where they are: so they can still replace others. */
void jit_codes_forget(struct jit_codes *codes);
/* The code that contains an address, or NULL. */
const struct jit_code *jit_codes_find(const struct jit_codes *codes, uint64_t address);
size_t jit_codes_bytes(const struct jit_codes *codes); /* memory; looks at all of them */
void jit_codes_release(struct jit_codes *codes);
