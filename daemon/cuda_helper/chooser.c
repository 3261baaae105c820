/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cuda_helper/chooser.h"

#include <string.h>

enum { SPANS_A_SECOND = 1000 * 1000 * 1000 / CHOOSER_SPAN_NS };

/* xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators,
 * scrambled". */
static uint32_t draw(struct chooser *chooser)
{
	uint64_t x = chooser->random;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	chooser->random = x;
	return (uint32_t)(x * 0x2545f4914f6cdd1d >> 32);
}

static struct chooser_pace pace_of(uint32_t a_second)
{
	uint32_t a_span = (a_second + SPANS_A_SECOND - 1) / SPANS_A_SECOND;

	return (struct chooser_pace){.a_span = a_span, .doubles_at = (uint64_t)a_span * 2};
}

void chooser_init(struct chooser *chooser, uint32_t kernels_a_second, uint32_t graphs_a_second,
                  uint64_t seed)
{
	memset(chooser, 0, sizeof(*chooser));
	chooser->kernels = pace_of(kernels_a_second);
	chooser->graphs = pace_of(graphs_a_second);
	chooser->random = seed * 0x9e3779b97f4a7c15 ?: 1; /* 0 would stay 0 */
	for (int i = 0; i < 4; i++)
		draw(chooser); /* seeds with few bits set begin alike */
}

/* ---- how many ------------------------------------------------------------------------------ */

/* The doublings for this many launches in a span. A value that fits roughly is kept, because a
 * change ends the groups. */
static uint32_t doublings_for(const struct chooser_pace *pace, uint64_t launches)
{
	uint64_t few = pace->a_span / 2 - pace->a_span / 8, many = pace->a_span + pace->a_span / 4;
	uint64_t now = launches >> pace->doublings;
	uint32_t doublings = 0;

	if (launches > pace->a_span && now > few && now <= many)
		return pace->doublings;
	while (doublings < CHOOSER_DOUBLINGS && launches >> doublings > pace->a_span)
		doublings++;
	return doublings;
}

/* Expects as many launches as in the busier one of the last two spans: programs launch in
 * bursts. */
static void begin_span(struct chooser_pace *pace, uint64_t now_ns)
{
	bool paused = now_ns - pace->since_ns >= 2 * (uint64_t)CHOOSER_SPAN_NS;
	uint64_t last = paused ? 0 : pace->launches;
	uint64_t before = paused ? 0 : pace->launches_before;

	pace->doublings = doublings_for(pace, last > before ? last : before);
	pace->doubles_at = (uint64_t)pace->a_span * 2 << pace->doublings;
	pace->launches_before = last;
	pace->launches = 0;
	pace->firsts = 0;
	pace->since_ns = now_ns;
}

/* The step grows gradually: otherwise the last few launches chosen of a burst would stand for most
 * of it, and the result would be poor. */
static void count_launch(struct chooser_pace *pace)
{
	if (pace->launches++ < pace->doubles_at || pace->doublings == CHOOSER_DOUBLINGS)
		return;
	pace->doublings++;
	pace->doubles_at += (uint64_t)(pace->a_span + 1) / 2 << pace->doublings;
}

/* ---- which --------------------------------------------------------------------------------- */

/* The group of a kernel, NULL if there is no place. `*ret_first`: the kernel was not launched
 * before. */
static struct chooser_group *group_of(struct chooser *chooser, uint64_t kernel, bool *ret_first)
{
	uint64_t at = (kernel ^ kernel >> 17) * 0x9e3779b97f4a7c15 >> 56;

	*ret_first = false;
	for (uint64_t i = 0; kernel && i < CHOOSER_PROBES; i++, at++) {
		at &= CHOOSER_KERNELS - 1;
		if (chooser->seen[at] == kernel)
			return &chooser->groups[at];
		if (!chooser->seen[at]) {
			chooser->seen[at] = kernel;
			*ret_first = true;
			return &chooser->groups[at];
		}
	}
	return NULL;
}

static uint32_t take_of(struct chooser *chooser, struct chooser_group *group, uint32_t doublings)
{
	uint32_t step = 1U << doublings;

	if (!group->left || group->doublings != doublings)
		*group = (struct chooser_group){
			.left = step,
			.chosen = draw(chooser) & (step - 1),
			.doublings = doublings,
		};
	return --group->left == group->chosen ? step : 0;
}

uint32_t chooser_take(struct chooser *chooser, uint64_t kernel, bool is_graph, uint64_t now_ns)
{
	struct chooser_pace *pace = is_graph ? &chooser->graphs : &chooser->kernels;
	struct chooser_group *group;
	bool is_first;

	if (now_ns - pace->since_ns >= CHOOSER_SPAN_NS)
		begin_span(pace, now_ns);
	count_launch(pace);
	group = group_of(chooser, kernel, &is_first);
	if (is_first && pace->firsts++ < pace->a_span)
		return 1;
	if (!group)
		group = is_graph ? &chooser->other_graphs : &chooser->other_kernels;
	return take_of(chooser, group, pace->doublings);
}
