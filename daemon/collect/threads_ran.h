/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct threads_ran - how long each thread of the host has run that ran lately, asked of the
 * kernel: one program that goes through all threads, 1 us for each. So the answer is put off until
 * it has taken no more than a small share of the time. Loop thread only.
 */
#pragma once

#include "collect/bpf.h"

#include <stdbool.h>

struct threads_ran {
	struct bpf_link *link; /* once the part RUN_TIMES is loaded */
	struct thread_ran *all;
	size_t room, count;
	uint64_t asked_ns, took_ns; /* by CLOCK_MONOTONIC, when last, and how long that took */
};

/* Asks; `all` is empty where the kernel cannot be asked, or was a moment ago. `wanted`: by somebody
 * whose sums are to end here, which is worth a larger share. Sorted by nothing. */
void threads_ran_read(struct threads_ran *threads, const struct bpf *bpf, bool wanted);
void threads_ran_release(struct threads_ran *threads);
