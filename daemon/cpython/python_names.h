/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reads the names that a Python program gives its threads (Thread.name), which CPython does not
 * pass to the kernel before 3.14. They are read from the dict threading._active of each
 * interpreter, which maps each ident to its Thread. The work is bounded, whatever the memory holds;
 * any thread.
 */
#pragma once

#include "cpython/python_objects.h"

enum {
	/* Reads in one walk: enough for one search among 8,000 modules, and five for each
	 * thread. */
	MAX_PYTHON_NAME_READS = 16384,
	MAX_PYTHON_NAMED = 1024, /* threads in one request */
	MAX_PYTHON_DICTS = 4,    /* remembered places of dicts */
	MAX_PYTHON_SUBS = 64,    /* interpreters that are looked at */
};

/* The place of threading._active in each interpreter; zero at first. A place is valid as long as
 * its interpreter exists. */
struct python_dicts {
	struct {
		uint64_t interpreter, active;
	} known[MAX_PYTHON_DICTS];
};

struct python_name {
	uint64_t ident;
	uint32_t tid; /* not used here */
	char *text;   /* UTF-8, owned by the caller; NULL: no name */
};

/* Sets the text of those `names` that have one; `names` must be sorted by ident. A name that Python
 * made up for a thread that it did not start ("Dummy-1") does not count. Returns how many have a
 * name, or -ENOMEM. */
int python_names_read(struct python_objects *objects, struct python_dicts *dicts,
                      struct python_name *names, size_t count);
