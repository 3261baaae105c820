/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct generated - turns an address of code that a process has generated into a location of the
 * slice that is being built. Code of one name is one location, whichever process has generated it.
 * Loop thread only.
 */
#pragma once

#include "jit/jit.h"
#include "proc/image.h"
#include "profile/builder.h"

struct generated {
	struct builder *builder;
	struct jit *jit; /* NULL: no code has a name */
	/* Leave out code that only calls the interpreter of code that has a name itself. */
	bool no_trampolines;
	/* The latest program that was met, and its number in `jit`; 0: there is no room for it. */
	bool is_met;
	uint32_t pid, number;
	uint64_t began_ns;
};

/* Whether the memory holds generated code: no file backs it, or a file in memory that is not an ELF
 * file. */
bool generated_is_in(const struct proc_mapping *mapped);
/* 0: it is left out. */
uint32_t generated_location(struct generated *generated, const struct image *image,
                            uint64_t address);
