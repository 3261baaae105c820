/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a Python program calls its threads: Thread.name, which CPython does not tell the kernel
 * before 3.14. Read from the dict threading._active of each interpreter, which has the Thread of
 * each ident. Bounded whatever is in the memory; any thread.
 */
#pragma once

#include "interp/python_objects.h"

enum {
	/* Reads of one walk: 8,000 modules are looked through once, and a thread takes five. */
	MAX_PYTHON_NAME_READS = 16384,
	MAX_PYTHON_NAMED = 1024, /* threads asked for at once */
	MAX_PYTHON_DICTS = 4,    /* whose places are remembered */
	MAX_PYTHON_SUBS = 64,    /* interpreters looked at */
};

/* Where threading._active is; zero at first. The place lasts as long as its interpreter. */
struct python_dicts {
	struct {
		uint64_t interpreter, active;
	} known[MAX_PYTHON_DICTS];
};

struct python_name {
	uint64_t ident;
	uint32_t tid; /* not looked at */
	char *text;   /* UTF-8; NULL: has none; the caller's */
};

/* Gives names to those of `names` that have one; sorted by ident. A name that Python made up for a
 * thread of somebody else's ("Dummy-1") is none. How many have one, or -ENOMEM. */
int python_names_read(struct python_objects *objects, struct python_dicts *dicts,
                      struct python_name *names, size_t count);
