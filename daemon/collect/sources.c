/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The table of profile kinds, made from the list that the kernel half uses too, and what sources of
 * one tracepoint have in common.
 */
#include "ingest/source.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define KIND(name, samples, lost) [KIND_##name] = &source_##name,
const struct source *const sources[KIND_COUNT] = {PROFILE_KINDS(KIND)};
#undef KIND

u32 sources_weight(void)
{
	u32 sum = MEMORY_WEIGHT;

	for (int kind = 0; kind < KIND_COUNT; kind++)
		sum += sources[kind]->history_weight;
	return sum;
}

void source_describe(const struct source *source, uint64_t period, struct builder *into)
{
	size_t last = 0;

	for (size_t i = 0; i < PROFILE_VALUES && source->values[i].type; i++) {
		builder_value_type(into, source->values[i].type, source->values[i].unit);
		last = i;
	}
	builder_period(into, source->values[last].type, source->values[last].unit, period);
}

void source_refuse_growth(struct source_state *state, const char *price)
{
	if (price)
		snprintf(state->why, sizeof(state->why), "%s; growth = yes records it", price);
	else
		snprintf(state->why, sizeof(state->why), "switched off by growth = no");
}

const char *source_load_part(struct bpf *bpf, enum bpf_part part, bool is_wanted)
{
	if (!is_wanted)
		return "";
	bpf_part_load(bpf, part, NULL);
	return bpf_part_why(bpf, part);
}

const struct profd_bpf *source_part(const struct bpf *bpf, enum bpf_part part, const char *off,
                                    struct source_state *state)
{
	const char *why = bpf_part_why(bpf, part);

	if (off)
		snprintf(state->why, sizeof(state->why), "switched off by %s", off);
	else
		snprintf(state->why, sizeof(state->why), "%s",
		         *why ? why : "its BPF programs are being loaded");
	return off ? NULL : bpf_part(bpf, part);
}

const struct profd_bpf *source_waits_part(const struct bpf *bpf, struct source_state *state)
{
	return source_part(bpf, BPF_PART_WAITS, state->config.waits ? NULL : "waits = no", state);
}

int source_attach_cpus(struct bpf *bpf, const bool *online, struct source_state *state,
                       source_attach_cpu_fn *attach, source_detach_cpu_fn *detach)
{
	int first_err = 0;

	for (u32 cpu = 0; cpu < MAX_CPUS; cpu++) {
		int err = 0;

		if (!online[cpu])
			detach(state, cpu);
		else if (!state->links[cpu][0])
			err = attach(bpf, state, cpu);
		/* A CPU that has gone offline in the meantime has no events. */
		if (err && err != -ENODEV && !first_err)
			first_err = err;
	}
	return first_err;
}

int source_attach_one(struct bpf_program *program, const char *what, struct source_state *state)
{
	int err;

	if (state->links[0][0])
		return 0;
	state->links[0][0] = bpf_program__attach(program);
	err = state->links[0][0] ? 0 : -errno;
	state->on = !err;
	state->attached = !err;
	if (!err)
		return 0;
	snprintf(state->why, sizeof(state->why), "cannot attach to %s: %s", what,
	         err == -ENOENT ? "this kernel has no such tracepoint" : strerror(-err));
	return err;
}

void source_detach_one(struct source_state *state)
{
	bpf_link__destroy(state->links[0][0]);
	state->links[0][0] = NULL;
	state->on = false;
	state->attached = 0;
}
