/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct stubs - where the stubs for calls by name (the PLT) of a file lead. Libraries call their
 * own exported functions through them, too. Immutable; any thread.
 */
#pragma once

#include "base/cleanup.h"
#include "elf/elf.h"

enum { MAX_STUBS = 16384 };

struct stub {
	uint64_t address;  /* of the stub */
	uint64_t function; /* function of that name in the same file; 0: in another file */
	char *name;
};

struct stubs {
	struct stub *at; /* by address */
	size_t count;
};

/* 0 or -ENOMEM; stubs over MAX_STUBS are left out. */
int stubs_read(const struct elf *elf, struct stubs *ret_stubs);
void stubs_release(struct stubs *stubs);
/* NULL: no stub begins there. */
const struct stub *stubs_find(const struct stubs *stubs, uint64_t address);
