/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct threads_ran - how long each thread of the host that ran lately has run, by the kernel's
 * account. One program goes through all threads and takes 1 us for each. So the kernel is asked
 * only as often as that takes no more than a small share of the time. Loop thread only.
 */
#pragma once

#include "kernel/bpf.h"

#include <stdbool.h>

struct threads_ran {
	struct bpf_link *link; /* once the part RUN_TIMES is loaded */
	struct thread_ran *all;
	size_t room, count;
	uint64_t asked_ns, took_ns; /* CLOCK_MONOTONIC of the last query, and its duration */
};

/* Asks the kernel. `all` is empty if the kernel cannot be asked, or was asked a moment ago; it is
 * in no order. `wanted`: a reader wants sums that end here, which is worth a larger share. */
void threads_ran_read(struct threads_ran *threads, const struct bpf *bpf, bool wanted);
void threads_ran_release(struct threads_ran *threads);
