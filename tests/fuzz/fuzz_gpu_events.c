/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as a sequence of events about GPUs: the memory figures by device and the profiles of
 * held memory always agree.
 */
#include "base/clock.h"
#include "gpu/gpu_events.h"
#include "gpu/gpu_feeds.h"
#include "ingest/source.h"

#include <stdlib.h>
#include <string.h>

enum { CODE = 0x1000, FIRST_PID = 4000001, PIDS = 3 };

static uint64_t held_bytes;

static int add_figures(const struct gpu_figures *figures, void *ctx)
{
	uint64_t sum = 0, *tensors = ctx;

	for (int memory = 0; memory < GPU_MEMORY_COUNT; memory++)
		if (memory != GPU_MEMORY_TENSOR)
			sum += figures->in_use[memory];
	if (sum > figures->peak)
		abort();
	held_bytes += sum;
	*tensors += figures->in_use[GPU_MEMORY_TENSOR];
	return 0;
}

static void check_kind(struct gpu_feeds *feeds, enum profile_kind kind, uint64_t bytes)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	const struct profile *profile;

	if (!builder)
		return;
	source_describe(sources[kind], 1, builder);
	if (gpu_feeds_held(feeds, kind, builder))
		abort();
	profile = builder_view(builder);
	for (uint32_t i = 1; i < profile->sample_count; i++)
		bytes -= profile->samples[i].values[3];
	if (bytes)
		abort();
}

static void check(struct gpu_feeds *feeds)
{
	uint64_t tensors = 0;

	held_bytes = 0;
	gpu_feeds_each(feeds, add_figures, &tensors);
	check_kind(feeds, KIND_gpu_memory, held_bytes);
	check_kind(feeds, KIND_gpu_tensor, tensors);
}

static void drop(const struct keepsake *what, void *ctx)
{
	(void)ctx;
	if (what->comm[sizeof(what->comm) - 1] || what->profile->sample_count < 2)
		abort();
	profile_unref(what->profile);
}

/* Only a few pids, which no process has, so that no process of this host is inspected; few
 * addresses and contexts, so that events refer to each other. */
static void confine(uint8_t *bytes, size_t len)
{
	struct gpu_event event;

	if (len < sizeof(event))
		return;
	memcpy(&event, bytes, sizeof(event));
	event.pid = FIRST_PID + event.pid % PIDS;
	event.image %= 2;
	event.address &= 0xff;
	event.context &= 0xff;
	/* Sums do not wrap around. */
	event.size >>= 16;
	memcpy(bytes, &event, sizeof(event));
}

static struct procs *make_procs(struct store *store)
{
	static const struct file_key no_file;
	struct procs *procs = store ? procs_new(store) : NULL;

	for (uint32_t i = 0; procs && i < PIDS; i++) {
		procs_exec(procs, FIRST_PID + i, "program", 1);
		procs_mmap(procs, FIRST_PID + i, CODE, 0x9000, 0, &no_file, "/no/such/file");
	}
	return procs;
}

static void take_all(struct gpu_events *events, const uint8_t *data, size_t size)
{
	uint16_t len;

	while (size >= sizeof(len)) {
		memcpy(&len, data, sizeof(len));
		data += sizeof(len);
		size -= sizeof(len);
		if (len > size)
			len = (uint16_t)size;
		/* Exactly this size. */
		_cleanup_free_ uint8_t *bytes = malloc(len + !len);
		if (!bytes)
			return;
		memcpy(bytes, data, len);
		confine(bytes, len);
		gpu_events_take(events, bytes, len);
		data += len;
		size -= len;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(store_freep) struct store *store = store_new(4);
	_cleanup_(procs_freep) struct procs *procs = make_procs(store);
	const struct drain_tables tables = {.procs = procs, .store = store};
	_cleanup_(gpu_feeds_freep) struct gpu_feeds *feeds =
		procs ? gpu_feeds_new(&(struct gpu_feeds_config){.tables = tables}) : NULL;
	const struct gpu_events_config config = {
		.feeds = feeds,
		.tables = tables,
		.out_of_memory = drop,
	};
	_cleanup_(gpu_events_freep) struct gpu_events *events =
		feeds ? gpu_events_new(&config) : NULL;

	if (!events)
		return 0;
	take_all(events, data, size);
	check(feeds);
	gpu_feeds_settle(feeds);
	gpu_feeds_drained(feeds, NSEC_PER_SEC);
	check(feeds);
	return 0;
}
