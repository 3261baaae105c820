/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct chooser - which of a thread's launches are reported, and how many launches each of them
 * stands for. Of each `step` launches of a kernel one is chosen, at a random place among them, and
 * stands for all of them. So a launch's weight is the inverse of its chance. Sums of weights are
 * right on average over any time and any kernel, and off by no more than a step where the rate is
 * steady.
 *
 * `step` is a power of two and follows the number of launches. In a storm it doubles as the
 * launches come. A second after they became fewer it has the value for the new rate, whatever was
 * chosen until then. It never depends on what is chosen, or the chances would be different from
 * what the weights say. Where there are fewer launches than `a_second`, all are chosen. In addition
 * the first launch of each kernel is chosen and stands for itself, unless there are too many. Pure;
 * owned by its thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
	CHOOSER_KERNELS = 256, /* a power of two; kernels without a place share one group */
	CHOOSER_PROBES = 8,
	CHOOSER_DOUBLINGS = 20,
	CHOOSER_SPAN_NS = 500 * 1000 * 1000,
};

/* The pace of kernels or of graphs. */
struct chooser_pace {
	uint32_t a_span; /* about how many are to be chosen in CHOOSER_SPAN_NS */
	uint32_t firsts; /* first launches of kernels, in this span */
	uint32_t doublings;
	uint64_t since_ns;                  /* beginning of this span */
	uint64_t launches, launches_before; /* in this span; in the one before */
	uint64_t doubles_at;                /* the value of `launches` at which the step doubles */
};

/* A group of launches of which one is chosen. */
struct chooser_group {
	uint64_t left : 24;      /* launches to come */
	uint64_t chosen : 24;    /* the launch after which this many remain is chosen */
	uint64_t doublings : 16; /* log2 of the group's size */
};

struct chooser {
	struct chooser_pace kernels, graphs;
	struct chooser_group other_kernels, other_graphs; /* for kernels without a place */
	uint64_t random;
	uint64_t seen[CHOOSER_KERNELS]; /* 0: free */
	struct chooser_group groups[CHOOSER_KERNELS];
};

/* `seed` may be any value. */
void chooser_init(struct chooser *chooser, uint32_t kernels_a_second, uint32_t graphs_a_second,
                  uint64_t seed);
/* The kernel or graph is launched at `now_ns`. Returns how many launches it stands for, or 0 when
 * it is not chosen. */
uint32_t chooser_take(struct chooser *chooser, uint64_t kernel, bool is_graph, uint64_t now_ns);
