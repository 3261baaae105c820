/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the slices of all kinds have in common: value types, times, and ticks that add up.
 */
#include "ingest/drain.h"

#include "ingest/source.h"
#include "profile/builder.h"

#include <errno.h>
#include <string.h>

/* The counters of each kind's samples. */
static const struct {
	enum counter samples, lost;
} kind_counters[KIND_COUNT] = {
#define KIND(name, samples, lost) [KIND_##name] = {COUNTER_##samples, COUNTER_##lost},
	PROFILE_KINDS(KIND)
#undef KIND
};

/* ticks = samples + idle + lost holds by construction: what the kernel counted and the drain did
 * not find counts as lost. Kinds that consist of events are excepted: events close to a half's end
 * may be in the adjacent slice, which is no loss. */
static struct ticks account(const struct half *half, enum profile_kind kind, uint64_t found)
{
	const u64 *counted = half->drained->counters.values;
	uint64_t samples = counted[kind_counters[kind].samples];
	struct ticks ticks = {.lost = counted[kind_counters[kind].lost]};

	if (sources[kind]->has_idle) {
		ticks.idle = counted[COUNTER_idle];
		ticks.missed = counted[COUNTER_ticks_missed];
	}
	if (!sources[kind]->by_events && samples > found) {
		ticks.lost += samples - found;
		half->losses->samples_lost_in_drain += samples - found;
	}
	ticks.total = found + ticks.idle + ticks.lost;
	return ticks;
}

int drain_slice(struct half *half, struct source_state *state, struct profile **ret_slice)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	const struct source *source = sources[state->kind];
	const struct drain_span *span = &half->span;
	struct ticks ticks;
	uint64_t found = 0;
	int err = -ENOMEM;

	if (builder) {
		source_describe(source, state->period, builder);
		err = source->fill(half, state, builder, &found);
		/* Set the time after the samples are added: a source that merges slices into the
		 * builder sets the time of those. */
		builder_time(builder, span->start_mono_ns, span->start_wall_ns,
		             span->end_mono_ns - span->start_mono_ns);
	}
	ticks = account(half, state->kind, found);
	if (builder)
		builder_ticks(builder, &ticks);
	if (!err)
		err = builder_seal(builder, ret_slice);
	if (err)
		half->losses->samples_lost_in_drain += found;
	return err;
}

int drain_slices(struct half *half, struct source_state *states,
                 struct profile *ret_slices[KIND_COUNT])
{
	int first_err = 0;

	memset(ret_slices, 0, KIND_COUNT * sizeof(*ret_slices));
	if (stack_index_build(&half->index, half->drained)) {
		for (int kind = 0; kind < KIND_COUNT; kind++)
			account(half, (enum profile_kind)kind, 0);
		return -ENOMEM;
	}
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		int err = drain_slice(half, &states[kind], &ret_slices[kind]);

		first_err = first_err ?: err;
	}
	stack_index_release(&half->index);
	return first_err;
}
