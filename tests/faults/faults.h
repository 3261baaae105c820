/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct faults - what run.py and faults.so say to each other: a file that both have mapped. All
 * calls of a kind are counted over all threads of the daemon; one of them fails. A place is a
 * stack, by the hash of its return addresses.
 */
#pragma once

#include <stdint.h>

enum {
	FAULT_MALLOC, /* malloc(), calloc(), realloc(), reallocarray() */
	FAULT_OPEN,   /* open(), openat(), fopen() */
	FAULT_READ,   /* read() and pread() of files; no kernel fails them on a pipe or eventfd */
	FAULT_MMAP,
	FAULT_BPF,
	FAULT_PERF, /* perf_event_open() */
	FAULT_KINDS,
};

enum {
	MAX_PLACES = 4096, /* of one kind */
	PLACE_FRAMES = 10, /* calls that differ above these are one place */
};

struct faults {
	uint64_t kind, nth;    /* which call fails; the 0th is none */
	uint64_t place;        /* or the first one from there, if it is not 0 */
	uint64_t notes_places; /* whether each place's first call is noted */
	uint64_t failed;       /* whether it has */
	uint64_t counts[FAULT_KINDS];
	uint64_t place_counts[FAULT_KINDS];
	struct {
		uint64_t hash;
		uint64_t frames[PLACE_FRAMES]; /* return addresses, innermost first */
	} places[FAULT_KINDS][MAX_PLACES];
};
