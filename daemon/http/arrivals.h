/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct arrivals - the connections that a whole request is awaited from, and until when. The time
 * is for all of the request together, from the connection's begin or the last answer's end, however
 * many bytes come in meanwhile. Pure but for the caller's clock; loop thread only.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Part of a connection; all zero at first. */
struct arrival {
	struct arrival *next, *prev;
	uint64_t due_mono_ns; /* 0: nothing is awaited */
};

/* All zero at first. Everybody has the same time, so who began first is due first. */
struct arrivals {
	struct arrival *first, *last;
};

/* A request is awaited from now on. */
void arrivals_await(struct arrivals *arrivals, struct arrival *arrival, uint64_t now_mono_ns);
/* It is here, or its connection is gone. May be called when nothing was awaited. */
void arrivals_end(struct arrivals *arrivals, struct arrival *arrival);
/* Takes one out whose time is over; NULL: there is none. */
struct arrival *arrivals_take_late(struct arrivals *arrivals, uint64_t now_mono_ns);
