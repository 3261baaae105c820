/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Names and help texts of the kernel half's counters, made from the list of counters. Also adds the
 * counters of a drained half to the statistics.
 */
#include "collect/collector.h"
#include "collect/drain.h"

#define COUNTER(name, help) #name,
const char *const counter_names[COUNTER_COUNT] = {COUNTERS(COUNTER)};
#undef COUNTER
#define COUNTER(name, help) help,
const char *const counter_help[COUNTER_COUNT] = {COUNTERS(COUNTER)};
#undef COUNTER

void collector_stats_add(struct collector_stats *stats, const struct drained *drained,
                         const struct drain_losses *losses)
{
	for (int i = 0; i < COUNTER_COUNT; i++)
		stats->counters[i] += drained->counters.values[i];
	stats->taking_ns += drained->counters.taking_ns;
	stats->drains++;
	stats->drain_errors += drained->err != 0;
	stats->samples_lost_in_drain = losses->samples_lost_in_drain;
	stats->frames_unmapped = losses->frames_unmapped;
	stats->frames_without_stack = losses->frames_without_stack;
	stats->images_missing = losses->images_missing;
	stats->python_codes_unknown = losses->python_codes_unknown;
	stats->python_words_misplaced = losses->python_words_misplaced;
	stats->tallies_used = (uint32_t)drained->tally_count;
	stats->stacks_used = (uint32_t)drained->stack_count;
}
