/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From tallies and chains of stack nodes to samples and call paths.
 */
#include "collect/drain.h"

#include "base/accounts.h"
#include "base/bounds.h"
#include "bpf/python.h"
#include "collect/frames.h"
#include "collect/gpu.h"
#include "collect/source.h"
#include "collect/stacks.h"
#include "collect/tasks.h"
#include "profile/builder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct draining {
	const struct drained *drained;
	struct stack_index index;
	struct drain_tables tables;
	struct builder *builder;
	struct frames frames;
	struct drain_losses *losses;
	uint64_t words[MAX_STACK_FRAMES];
};

/* A kernel caller's pc is its return address, which may be the next function's first byte. */
static uint64_t kernel_pc(const struct draining *draining, size_t at)
{
	return at ? draining->words[at] - 1 : draining->words[at];
}

static uint32_t add_user(struct draining *draining, const struct tally_key *key,
                         const struct image *image)
{
	struct stack_words stack = {.words = draining->words};

	stack.len =
		stack_index_words(&draining->index, key->user_stack, draining->words, &stack.whole);
	/* What told of its mappings was lost. */
	if (image && !frames_are_mapped(image, &stack))
		procs_look_again(draining->tables.procs, key->pid);
	return frames_add(&draining->frames, image, &stack);
}

static uint32_t add_kernel(struct draining *draining, uint64_t key, uint32_t path)
{
	bool whole;
	size_t len = stack_index_words(&draining->index, key, draining->words, &whole);

	while (len-- > 0)
		path = builder_node(
			draining->builder, path,
			places_kernel(&draining->frames.places, kernel_pc(draining, len)));
	return path;
}

static const char *gil_name(uint8_t gil)
{
	static const char *const names[] = {
		[GIL_UNKNOWN] = "",
		[GIL_HELD] = "held",
		[GIL_RELEASED] = "released",
		[GIL_NONE] = "none",
	};

	return gil < sizeof(names) / sizeof(names[0]) ? names[gil] : "";
}

/* Of what kind the memory is that grew; "" for what is no memory. */
static const char *memory_name(const struct tally_key *key)
{
	static const char *const names[] = {
		[RESIDENT_FILE] = "file",
		[RESIDENT_ANON] = "anon",
		[RESIDENT_SHARED] = "shared",
	};

	if (key->kind != KIND_rss || key->detail >= sizeof(names) / sizeof(names[0]))
		return "";
	return names[key->detail] ?: "";
}

static uint32_t add_task(struct draining *draining, const struct tally_key *key,
                         const struct tally *tally, const struct image *image)
{
	struct builder *builder = draining->builder;
	struct task task = {
		.pid = key->pid,
		.tid = key->tid,
		.gil = builder_text(builder, gil_name(key->gil)),
		.memory = builder_text(builder, memory_name(key)),
		.account = account_of(tally->user),
	};

	task_identify(&task, builder, &draining->tables, image, draining->frames.python_version,
	              tally->last_ns);
	task_name_thread(&task, builder, &draining->tables,
	                 &(struct seen_task){key->image, tally->last_ns, key->thread});
	if (!image)
		task.comm =
			builder_string(builder, key->thread, strnlen(key->thread, TASK_COMM_BYTES));
	return builder_task(builder, &task);
}

static void add_tally(struct draining *draining, const struct tally_key *key,
                      const struct tally *tally)
{
	const struct image *image = procs_image(draining->tables.procs, key->pid, tally->last_ns);
	uint64_t values[PROFILE_VALUES] = {tally->count, tally->value};
	uint32_t path;

	if (!image)
		draining->losses->images_missing += tally->count;
	path = add_user(draining, key, image);
	path = add_kernel(draining, key->kernel_stack, path);
	if (!path)
		path = builder_node(draining->builder, 0,
		                    places_pseudo(&draining->frames.places, "[no stack]"));
	builder_sample(draining->builder, path, add_task(draining, key, tally, image), values);
}

static void describe(struct builder *builder, enum profile_kind kind, const struct drain_span *span)
{
	source_describe(sources[kind], span->periods[kind], builder);
	builder_time(builder, span->start_mono_ns, span->start_wall_ns,
	             span->end_mono_ns - span->start_mono_ns);
}

/* The counters of each kind's samples. */
static const struct {
	enum counter samples, lost;
} kind_counters[KIND_COUNT] = {
#define KIND(name, samples, lost) [KIND_##name] = {COUNTER_##samples, COUNTER_##lost},
	PROFILE_KINDS(KIND)
#undef KIND
};

/* ticks = samples + idle + lost holds by construction: what the kernel counted and is not here was
 * lost. */
static struct ticks account(const struct drained *drained, enum profile_kind kind,
                            struct drain_losses *losses)
{
	const u64 *counted = drained->counters.values;
	uint64_t samples = counted[kind_counters[kind].samples];
	struct ticks ticks = {
		.idle = kind == KIND_cpu ? counted[COUNTER_idle] : 0,
		.lost = counted[kind_counters[kind].lost],
		.missed = kind == KIND_cpu ? counted[COUNTER_ticks_missed] : 0,
	};
	uint64_t found = 0;

	for (size_t i = 0; i < drained->tally_count; i++)
		if (drained->tally_keys[i].kind == kind)
			found += drained->tallies[i].count;
	if (samples > found) {
		ticks.lost += samples - found;
		losses->samples_lost_in_drain += samples - found;
	}
	ticks.total = found + ticks.idle + ticks.lost;
	return ticks;
}

/* The slice of one kind; 0 or -ENOMEM. */
static int drain_kind(struct draining *draining, enum profile_kind kind,
                      const struct drain_span *span, struct profile **ret_slice)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	const struct drain_tables *tables = &draining->tables;
	const struct drained *drained = draining->drained;
	struct ticks ticks = account(drained, kind, draining->losses);
	int err = -ENOMEM;

	if (builder) {
		draining->builder = builder;
		draining->frames = (struct frames){
			.builder = builder,
			.places = {.store = tables->store, .builder = builder},
			.codes = tables->codes,
			.codes_told = tables->codes_told,
			.losses = draining->losses,
		};
		describe(builder, kind, span);
		builder_ticks(builder, &ticks);
		for (size_t i = 0; i < drained->tally_count; i++)
			if (drained->tally_keys[i].kind == kind)
				add_tally(draining, &drained->tally_keys[i], &drained->tallies[i]);
		places_release(&draining->frames.places);
		err = builder_seal(builder, ret_slice);
	}
	if (err)
		draining->losses->samples_lost_in_drain += ticks.total - ticks.idle - ticks.lost;
	return err;
}

int drain_slices(const struct drained *drained, const struct drain_span *span,
                 const struct drain_tables *tables, struct drain_losses *losses,
                 struct profile *ret_slices[KIND_COUNT])
{
	_cleanup_free_ struct draining *draining = calloc(1, sizeof(*draining));
	int first_err = 0;

	memset(ret_slices, 0, KIND_COUNT * sizeof(*ret_slices));
	if (!draining || stack_index_build(&draining->index, drained)) {
		for (int kind = 0; kind < KIND_COUNT; kind++) {
			struct ticks ticks = account(drained, kind, losses);

			losses->samples_lost_in_drain += ticks.total - ticks.idle - ticks.lost;
		}
		return -ENOMEM;
	}
	draining->drained = drained;
	draining->tables = *tables;
	draining->losses = losses;
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		if (gpu_has_kind(kind))
			continue;
		int err = drain_kind(draining, kind, span, &ret_slices[kind]);

		if (!first_err)
			first_err = err;
	}
	stack_index_release(&draining->index);
	return first_err;
}
