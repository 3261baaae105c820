/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct chooser - which of a thread's launches are told of, and how many each of them stands for.
 * Of each kernel one launch in `step` is chosen, at a random place among them, and stands for all
 * of them. So a launch's weight is the inverse of its chance, and sums of weights are right on
 * average over any time and any kernel, and off by no more than a step where the rate is steady.
 *
 * `step` is a power of two and follows the number of launches: in a storm it doubles as they come,
 * and it is what they are worth a second after they became fewer, whatever was chosen until then.
 * It never depends on what is chosen, or chances would not be what they seem. Where there are fewer
 * launches than `a_second`, all are chosen. Besides, the first launch of each kernel is, for
 * itself, unless there are too many. Pure; owned by its thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
	CHOOSER_KERNELS = 256, /* a power of two; those for which there is no place share one */
	CHOOSER_PROBES = 8,
	CHOOSER_DOUBLINGS = 20,
	CHOOSER_SPAN_NS = 500 * 1000 * 1000,
};

/* Of kernels or of graphs. */
struct chooser_pace {
	uint32_t a_span; /* how many are to be chosen in CHOOSER_SPAN_NS, about */
	uint32_t firsts; /* in this span, of kernels */
	uint32_t doublings;
	uint64_t since_ns;                  /* this span's beginning */
	uint64_t launches, launches_before; /* in this span; in the one before */
	uint64_t doubles_at;                /* of `launches` */
};

/* The launches of which one is chosen. */
struct chooser_group {
	uint64_t left : 24;      /* to come */
	uint64_t chosen : 24;    /* that with so many after it */
	uint64_t doublings : 16; /* how many they are */
};

struct chooser {
	struct chooser_pace kernels, graphs;
	struct chooser_group other_kernels, other_graphs; /* of those without a place */
	uint64_t random;
	uint64_t seen[CHOOSER_KERNELS]; /* 0: free */
	struct chooser_group groups[CHOOSER_KERNELS];
};

/* `seed` is anything. */
void chooser_init(struct chooser *chooser, uint32_t kernels_a_second, uint32_t graphs_a_second,
                  uint64_t seed);
/* The kernel, or graph, is launched at that time: how many launches it stands for, or 0 when it is
 * not chosen. */
uint32_t chooser_take(struct chooser *chooser, uint64_t kernel, bool is_graph, uint64_t now_ns);
