/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct arrivals - the connections on which a request is awaited, and their deadlines. A deadline
 * is for the complete request, counted from the start of the connection or the end of the last
 * answer, however many bytes arrive in between. Pure, apart from the caller's clock; loop thread
 * only.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Embedded in a connection; all zero at first. */
struct arrival {
	struct arrival *next, *prev;
	uint64_t due_mono_ns; /* 0: no request is awaited */
};

/* All zero at first. All connections have the same time, so the list is in the order of deadlines.
 */
struct arrivals {
	struct arrival *first, *last;
};

/* Begins to await a request on this connection. */
void arrivals_await(struct arrivals *arrivals, struct arrival *arrival, uint64_t now_mono_ns);
/* The request is complete, or the connection is gone. May be called when none is awaited. */
void arrivals_end(struct arrivals *arrivals, struct arrival *arrival);
/* Removes and returns a connection whose deadline has passed; NULL: there is none. */
struct arrival *arrivals_take_late(struct arrivals *arrivals, uint64_t now_mono_ns);
