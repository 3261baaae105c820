/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct faults - data shared by run.py and faults.so: a file that both have mapped. All calls of a
 * kind are counted over all threads of the daemon, and one of them fails. A place is a stack,
 * identified by the hash of its return addresses.
 */
#pragma once

#include <stdint.h>

enum {
	FAULT_MALLOC, /* malloc(), calloc(), realloc(), reallocarray() */
	FAULT_OPEN,   /* open(), openat(), fopen() */
	FAULT_READ,   /* read() and pread() of files; the kernel never fails them on a pipe or
	               * eventfd */
	FAULT_MMAP,
	FAULT_BPF,
	FAULT_PERF, /* perf_event_open() */
	FAULT_KINDS,
};

enum {
	MAX_PLACES = 4096, /* of one kind */
	PLACE_FRAMES = 10, /* stacks that differ only further out are one place */
};

struct faults {
	uint64_t kind, nth;    /* which call fails; 0: none */
	uint64_t place;        /* if not 0, the first call from there fails */
	uint64_t notes_places; /* whether each place's first call is noted */
	uint64_t failed;       /* whether the call has failed */
	uint64_t counts[FAULT_KINDS];
	uint64_t place_counts[FAULT_KINDS];
	struct {
		uint64_t hash;
		uint64_t frames[PLACE_FRAMES]; /* return addresses, innermost first */
	} places[FAULT_KINDS][MAX_PLACES];
};
