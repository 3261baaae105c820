/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The slice is built while kernels are reported, not at its end: there are far fewer call paths
 * than kernels.
 */
#include "gpu/gpu_kernels.h"

#include "gpu/gpu_launches.h"
#include "ingest/frames.h"
#include "ingest/source.h"
#include "ingest/tasks.h"
#include "profile/kernel_place.h"
#include "profile/select.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	NS_PER_S = 1000 * 1000 * 1000,
	KERNELS_AT_ONCE = 128, /* on a device: CUDA's "maximum number of resident grids" */
};

struct gpu_kernels {
	struct drain_tables tables;
	struct gpu_launches *launches;
	struct builder *builder; /* of the next slice; NULL until a kernel has run */
	struct frames frames;
	struct drain_losses losses;   /* of the next slice */
	uint64_t in_slice;            /* kernel reports */
	size_t bytes[ACCOUNT_PLACES]; /* of the slice, by account */
	struct gpu_kernels_stats stats;
};

struct gpu_kernels *gpu_kernels_new(const struct drain_tables *tables)
{
	_cleanup_(gpu_kernels_freep) struct gpu_kernels *kernels = calloc(1, sizeof(*kernels));

	if (!kernels)
		return NULL;
	kernels->tables = *tables;
	kernels->launches = gpu_launches_new();
	return kernels->launches ? TAKE_PTR(kernels) : NULL;
}

static void drop_slice(struct gpu_kernels *kernels)
{
	places_release(&kernels->frames.places);
	builder_free(kernels->builder);
	kernels->builder = NULL;
	kernels->frames = (struct frames){0};
	kernels->losses = (struct drain_losses){0};
	kernels->in_slice = 0;
	memset(kernels->bytes, 0, sizeof(kernels->bytes));
}

void gpu_kernels_free(struct gpu_kernels *kernels)
{
	if (!kernels)
		return;
	drop_slice(kernels);
	gpu_launches_free(kernels->launches);
	free(kernels);
}

static bool begin_slice(struct gpu_kernels *kernels)
{
	struct builder *builder;

	if (kernels->builder)
		return true;
	builder = builder_new();
	if (!builder)
		return false;
	source_describe(sources[KIND_gpu_kernel], 1, builder);
	kernels->builder = builder;
	kernels->frames = frames_of(&kernels->tables, builder, &kernels->losses);
	return true;
}

/* ---- what a kernel is called --------------------------------------------------------------- */

/* The name of a kernel's location, as a string of the builder. */
static uint32_t name_of(const struct builder *builder, uint32_t location)
{
	const struct profile *built = builder_view(builder);

	if (builder_error(builder))
		return 0;
	return built->functions[built->lines[built->locations[location].first_line].function].name;
}

/* ---- one kernel ---------------------------------------------------------------------------- */

/* Frames of the reporting library, and of CUPTI, which called it, say nothing about the program. */
static size_t own_frames(const struct image *image, const struct gpu_launch *launch)
{
	static const char *const own[] = {"libprofd-cuda.so", "libcupti.so"};
	size_t count = 0;

	for (; image && count < launch->count; count++) {
		const struct proc_mapping *mapping =
			mapping_set_find(image->set, launch->words[count]);
		const char *slash = mapping ? strrchr(mapping->path, '/') : NULL;
		bool is_own = false;

		for (size_t i = 0; slash && i < sizeof(own) / sizeof(own[0]); i++)
			is_own |= strncmp(slash + 1, own[i], strlen(own[i])) == 0;
		if (!is_own)
			break;
	}
	return count < launch->count ? count : 0;
}

static uint32_t launch_path(struct gpu_kernels *kernels, const struct image *image,
                            const struct gpu_launch *launch)
{
	struct stack_words stack = {.whole = true};
	uint32_t path = 0;
	size_t own;

	if (launch) {
		own = own_frames(image, launch);
		stack.words = launch->words + own;
		stack.len = launch->count - own;
		path = frames_add(&kernels->frames, image, &stack);
	}
	if (path)
		return path;
	return builder_node(kernels->builder, 0,
	                    places_pseudo(&kernels->frames.places,
	                                  launch ? "[no stack]" : "[launch not known]"));
}

static uint32_t device_name(struct builder *builder, uint8_t device)
{
	char text[16];

	if (device == GPU_DEVICE_UNKNOWN)
		return builder_text(builder, "unknown");
	snprintf(text, sizeof(text), "%u", device);
	return builder_text(builder, text);
}

/* The sample's thread is the one that launched the kernel: the thread that reports it is
 * CUPTI's. */
static uint32_t add_task(struct gpu_kernels *kernels, const struct gpu_event *event,
                         const struct image *image, uint32_t tid, uint32_t name)
{
	struct builder *builder = kernels->builder;
	struct task task = {
		.pid = event->pid,
		.tid = tid,
		.device = device_name(builder, event->device),
		.kernel = name,
	};

	task_identify(&task, builder, &kernels->tables, image, kernels->frames.ran, event->time_ns);
	return builder_task(builder, &task);
}

void gpu_kernels_launched(struct gpu_kernels *kernels, const struct gpu_event *event,
                          const uint64_t *words)
{
	kernels->stats.launches++;
	if (gpu_launches_add(kernels->launches, event, words))
		kernels->stats.launches_lost++;
}

static uint64_t kernels_told(const struct gpu_event *event)
{
	return event->reserved ?: 1;
}

/* The product, or `most` if that is less. */
static uint64_t times(uint64_t value, uint64_t factor, uint64_t most)
{
	uint64_t product;

	return __builtin_mul_overflow(value, factor, &product) || product > most ? most : product;
}

/* No kernel has run for longer than since its launch. Those of a graph may run side by side. */
static uint64_t ran_ns(const struct gpu_event *event, const struct gpu_launch *launch)
{
	uint64_t kernels = kernels_told(event), since_ns = 0;

	if (!launch)
		return event->size;
	if (event->time_ns > launch->time_ns)
		since_ns = event->time_ns - launch->time_ns;
	return times(since_ns, kernels < KERNELS_AT_ONCE ? kernels : KERNELS_AT_ONCE, event->size);
}

static void add_kernel(struct gpu_kernels *kernels, const struct gpu_event *event, const char *name)
{
	const struct gpu_launch *launch = gpu_launches_use(kernels->launches, event);
	const struct image *image = procs_image(kernels->tables.procs, event->pid,
	                                        launch ? launch->time_ns : event->time_ns);
	uint64_t weight = event->allocated ?: 1;
	const uint64_t values[PROFILE_VALUES] = {
		times(kernels_told(event), weight, MAX_GPU_KERNELS_TOLD),
		times(ran_ns(event, launch), weight, MAX_GPU_TOLD_NS),
	};
	uint32_t path, leaf, tid = launch ? launch->tid : event->tid;

	if (!launch)
		kernels->stats.kernels_unplaced++;
	path = launch_path(kernels, image, launch);
	leaf = kernel_location(kernels->builder, name);
	path = builder_node(kernels->builder, path, leaf);
	builder_sample(kernels->builder, path,
	               add_task(kernels, event, image, tid, name_of(kernels->builder, leaf)),
	               values);
}

/* An account may have as many bytes of a slice as are left for all. */
static bool has_room(const struct gpu_kernels *kernels, uint8_t account)
{
	return builder_sealed(kernels->builder) + kernels->bytes[account] < MAX_GPU_KERNELS_BYTES;
}

void gpu_kernels_ran(struct gpu_kernels *kernels, const struct gpu_event *event, const void *name)
{
	size_t len = event->words * sizeof(uint64_t);
	char text[GPU_NAME_BYTES + 1];
	size_t before;

	kernels->stats.kernels++;
	if (len > GPU_NAME_BYTES)
		len = GPU_NAME_BYTES;
	memcpy(text, name, len);
	text[len] = '\0';
	if (!text[0])
		snprintf(text, sizeof(text), "[kernel without a name]");
	if (!begin_slice(kernels) || builder_error(kernels->builder) ||
	    !has_room(kernels, event->account)) {
		kernels->stats.kernels_lost++;
		return;
	}
	kernels->in_slice++;
	before = builder_sealed(kernels->builder);
	add_kernel(kernels, event, text);
	kernels->bytes[event->account] += builder_sealed(kernels->builder) - before;
}

/* ---- all of them --------------------------------------------------------------------------- */

static void add_losses(struct drain_losses *losses, const struct drain_losses *more)
{
	losses->frames_unmapped += more->frames_unmapped;
	losses->frames_without_stack += more->frames_without_stack;
	losses->codes_unknown += more->codes_unknown;
	losses->words_misplaced += more->words_misplaced;
}

int gpu_kernels_fill(struct gpu_kernels *kernels, struct half *half, struct builder *into,
                     uint64_t *ret_told)
{
	uint64_t kept_ns = GPU_LAUNCH_KEPT_S * (uint64_t)NS_PER_S, end_ns = half->span.end_mono_ns;
	struct profile built, *slices = &built;
	int err = 0;

	*ret_told = kernels->in_slice;
	if (kernels->builder) {
		built = *builder_view(kernels->builder);
		err = builder_error(kernels->builder)
		              ?: select_merge(into, &slices, 1, &select_all);
	}
	add_losses(half->losses, &kernels->losses);
	drop_slice(kernels);
	if (end_ns > kept_ns)
		gpu_launches_expire(kernels->launches, end_ns - kept_ns);
	return err;
}

void gpu_kernels_get_stats(const struct gpu_kernels *kernels, struct gpu_kernels_stats *ret_stats)
{
	*ret_stats = kernels->stats;
	ret_stats->launches_unused = gpu_launches_unused(kernels->launches);
}
