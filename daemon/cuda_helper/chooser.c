/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cuda_helper/chooser.h"

enum { NS_PER_S = 1000 * 1000 * 1000 };

/* xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled".
 */
static uint32_t draw(struct chooser *chooser)
{
	uint64_t x = chooser->random;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	chooser->random = x;
	return (uint32_t)(x * 0x2545f4914f6cdd1d >> 32);
}

void chooser_init(struct chooser *chooser, uint32_t kernels_a_second, uint32_t graphs_a_second,
                  uint64_t seed)
{
	chooser->kernels = (struct chooser_pace){.a_second = kernels_a_second, .step = 1, .due = 1};
	chooser->graphs = (struct chooser_pace){.a_second = graphs_a_second, .step = 1, .due = 1};
	chooser->random = seed | 1;
}

static uint64_t price(const struct chooser_pace *pace)
{
	return NS_PER_S / pace->a_second;
}

/* Takes one out of the bucket; false: it is empty. */
static bool pay(struct chooser_pace *pace, uint64_t now_ns)
{
	uint64_t passed = now_ns - pace->filled_ns;

	if (!pace->filled_ns || passed > NS_PER_S - pace->tokens_ns)
		pace->tokens_ns = NS_PER_S;
	else
		pace->tokens_ns += passed;
	pace->filled_ns = now_ns;
	if (pace->tokens_ns < price(pace))
		return false;
	pace->tokens_ns -= price(pace);
	return true;
}

/* Whether a launch is chosen that is due. */
static bool choose(struct chooser *chooser, struct chooser_pace *pace, uint64_t now_ns)
{
	bool paid = pay(pace, now_ns);

	if (!paid && pace->step < 1u << CHOOSER_DOUBLINGS)
		pace->step *= 2;
	else if (paid && pace->tokens_ns > NS_PER_S / 2 && pace->step > 1)
		pace->step /= 2;
	pace->due = 1 + draw(chooser) % (2 * pace->step - 1);
	return paid;
}

/* Where the launches of a kernel are counted; `*ret_new`: none was chosen yet. */
static uint64_t *count_of(struct chooser *chooser, uint64_t kernel, bool *ret_new)
{
	uint64_t at = (kernel ^ kernel >> 17) * 0x9e3779b97f4a7c15 >> 56;

	*ret_new = false;
	for (uint64_t i = 0; kernel && i < CHOOSER_PROBES; i++, at++) {
		at &= CHOOSER_KERNELS - 1;
		if (chooser->seen[at].kernel == kernel)
			return &chooser->seen[at].waiting;
		if (!chooser->seen[at].kernel) {
			chooser->seen[at].kernel = kernel;
			*ret_new = true;
			return &chooser->seen[at].waiting;
		}
	}
	return &chooser->others;
}

uint32_t chooser_take(struct chooser *chooser, uint64_t kernel, bool is_graph, uint64_t now_ns)
{
	struct chooser_pace *pace = is_graph ? &chooser->graphs : &chooser->kernels;
	uint64_t *waiting, weight;
	bool is_new, chosen;

	waiting = count_of(chooser, kernel, &is_new);
	weight = ++*waiting;
	if (--pace->due == 0)
		chosen = choose(chooser, pace, now_ns);
	else
		chosen = is_new && pay(pace, now_ns);
	if (!chosen)
		return 0;
	*waiting = 0;
	return weight < UINT32_MAX ? (uint32_t)weight : UINT32_MAX;
}
