/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct threads_ran - how long each thread of the host has run that ran lately, asked of the
 * kernel: one program that goes through all threads, 0.1 us for each. Loop thread only.
 */
#pragma once

#include "collect/bpf.h"

struct threads_ran {
	struct bpf_link *link; /* once the part RUN_TIMES is loaded */
	struct thread_ran *all;
	size_t room, count;
};

/* Asks; `all` is empty where the kernel cannot be asked. Sorted by nothing. */
void threads_ran_read(struct threads_ran *threads, const struct bpf *bpf);
void threads_ran_release(struct threads_ran *threads);
