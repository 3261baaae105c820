/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Goes row by row. The call path of a launch ends in its kernel, as if the kernel had been called.
 */
#include "gpu/gpu_rows.h"

#include "base/accounts.h"
#include "base/bounds.h"
#include "cuda/calls.h"
#include "ingest/frames.h"
#include "ingest/tasks.h"
#include "profile/kernel_place.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DIRECTION(name, text) text,
static const char *const direction_texts[GPU_DIRECTION_COUNT] = {GPU_DIRECTIONS(DIRECTION)};
#undef DIRECTION

/* What is needed while the rows of a kind are added. */
struct gpu_rows {
	struct half *half;
	struct gpu_feeds *feeds;
	struct frames frames;
	uint64_t words[MAX_STACK_FRAMES];
};

/* One row. */
struct row {
	const struct gpu_call_key *key;
	const struct gpu_call *calls;
	const struct image *image;
	struct gpu_feed *feed; /* NULL: no room for one */
	const char *kernel;    /* of a launch: its name, or the text in its place */
	char number[32];       /* the buffer of that text */
};

/* Handles belong to a process. A kernel without a name is called by its handle. */
static void name_kernel(struct row *row)
{
	const struct gpu_call_key *key = row->key;
	bool graph = gpu_call_cookie(key->call).role == GPU_LAUNCHES_GRAPH;

	if (key->kind != KIND_gpu_launch)
		return;
	if (row->feed && !graph)
		row->kernel = gpu_names_find(&row->feed->handles, key->object);
	if (row->kernel)
		return;
	snprintf(row->number, sizeof(row->number), graph ? "<graph 0x%" PRIx64 ">" : KERNEL_UNNAMED,
	         key->object);
	row->kernel = row->number;
}

static uint32_t add_path(struct gpu_rows *rows, const struct row *row)
{
	struct stack_words stack = {.words = rows->words};
	uint64_t key = row->key->stack ? row->key->stack : row->calls->stack;
	uint32_t path;

	stack.len = stack_index_words(&rows->half->index, key, rows->words, &stack.whole);
	path = frames_add(&rows->frames, row->image, &stack);
	if (!path)
		path = builder_node(rows->frames.builder, 0,
		                    places_pseudo(&rows->frames.places, "[stack not taken]"));
	if (row->kernel)
		path = builder_node(rows->frames.builder, path,
		                    kernel_location(rows->frames.builder, row->kernel));
	return path;
}

static uint32_t dims_text(struct builder *builder, const uint32_t dims[3])
{
	char text[40];

	if (!dims[0] && !dims[1] && !dims[2])
		return 0;
	snprintf(text, sizeof(text), "%" PRIu32 "x%" PRIu32 "x%" PRIu32, dims[0], dims[1], dims[2]);
	return builder_text(builder, text);
}

static uint32_t add_task(struct gpu_rows *rows, const struct row *row)
{
	const struct gpu_call_key *key = row->key;
	struct builder *builder = rows->frames.builder;
	struct task task = {
		.pid = row->calls->pid,
		.tid = key->tid,
		.account = account_of(row->calls->user),
	};
	char device[16];

	gpu_device_text(key->device, false, device);
	task_identify(&task, builder, rows->half->tables, row->image, rows->frames.ran,
	              row->calls->last_ns);
	task_name_thread(&task, builder, rows->half->tables,
	                 &(struct seen_task){key->image, row->calls->last_ns, row->calls->thread});
	if (!row->image)
		task.comm = builder_string(builder, row->calls->thread,
		                           strnlen(row->calls->thread, TASK_COMM_BYTES));
	task.device = builder_text(builder, device);
	task.call = builder_text(builder, gpu_call_name(key->via ? key->via : key->call));
	if (row->kernel) {
		task.kernel = kernel_label(builder, row->kernel);
		task.grid = dims_text(builder, key->grid);
		task.block = dims_text(builder, key->block);
	}
	if (key->kind == KIND_gpu_copy && key->detail < GPU_DIRECTION_COUNT)
		task.direction = builder_text(builder, direction_texts[key->detail]);
	return builder_task(builder, &task);
}

static void add_row(struct gpu_rows *rows, struct row *row)
{
	const struct gpu_call *calls = row->calls;
	uint64_t values[PROFILE_VALUES] = {calls->count};
	uint32_t path;

	row->image = procs_image(rows->half->tables->procs, calls->pid, calls->last_ns);
	row->feed = gpu_feeds_get(rows->feeds, calls->pid, row->key->image, calls->last_ns);
	if (!row->image)
		rows->half->losses->images_missing += calls->count;
	if (row->feed)
		gpu_total_calls(gpu_totals_of(&row->feed->totals, row->key->device), row->key,
		                calls);
	if (row->key->kind != KIND_gpu_launch)
		values[1] = calls->value;
	name_kernel(row);
	path = add_path(rows, row);
	builder_sample(rows->frames.builder, path, add_task(rows, row), values);
}

void gpu_rows_add(struct half *half, struct gpu_feeds *feeds, enum profile_kind kind,
                  struct builder *builder, uint64_t *ret_count)
{
	const struct drained *drained = half->drained;
	struct gpu_rows rows = {
		.half = half,
		.feeds = feeds,
		.frames = frames_of(half->tables, builder, half->losses),
	};

	*ret_count = 0;
	for (size_t i = 0; i < drained->gpu_count; i++) {
		struct row row = {.key = &drained->gpu_keys[i], .calls = &drained->gpu_calls[i]};

		/* Skips a row whose calls have all moved to the row of their stack. */
		if (row.key->kind != kind || !row.calls->count)
			continue;
		*ret_count += row.calls->count;
		add_row(&rows, &row);
	}
	places_release(&rows.frames.places);
}
