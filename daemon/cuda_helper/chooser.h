/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct chooser - which of a thread's launches are told of, and how many each of them stands for:
 * as many as the thread made of that kernel since the last one that was told. So sums are those of
 * all launches, as long as the choice has nothing to do with how long a kernel takes: from one to
 * the next it is a random number of launches, whose mean doubles when there are too many in a
 * second and is halved when there are few. Besides, the first launch of each kernel is chosen while
 * the rate allows for it. Pure; owned by its thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
	CHOOSER_KERNELS = 256, /* a power of two; those for which there is no place share one */
	CHOOSER_PROBES = 8,
	CHOOSER_DOUBLINGS = 20,
};

/* A bucket of launches that may be told of now. */
struct chooser_pace {
	uint32_t a_second; /* also what the bucket holds, at most */
	uint32_t step;     /* mean number of launches from one that is chosen to the next */
	uint32_t due;      /* until then */
	uint64_t filled_ns, tokens_ns; /* tokens_ns: 1e9 / a_second is one of them */
};

struct chooser {
	struct chooser_pace kernels, graphs;
	uint64_t random;
	struct {
		uint64_t kernel;  /* 0: free */
		uint64_t waiting; /* launches since one was chosen */
	} seen[CHOOSER_KERNELS];
	uint64_t others; /* the same of all that have no place */
};

/* Every other byte is 0 before. `seed` is anything. */
void chooser_init(struct chooser *chooser, uint32_t kernels_a_second, uint32_t graphs_a_second,
                  uint64_t seed);
/* The kernel, or graph, is launched at that time: how many launches it stands for, or 0 when it is
 * not chosen. */
uint32_t chooser_take(struct chooser *chooser, uint64_t kernel, bool is_graph, uint64_t now_ns);
