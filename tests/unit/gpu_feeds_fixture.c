/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "tests/unit/gpu_feeds_fixture.h"

#include <string.h>

const struct hash_key hash_key = {0, 0x9e3779b97f4a7c15};
struct drain_tables tables;
struct gpu_feeds *feeds;
struct gpu_events *events;
struct gpu_event event;
struct keepsake kept[8];
size_t kept_count;

static void keep(const struct keepsake *what, void *ctx)
{
	(void)ctx;
	ck_assert_uint_lt(kept_count, sizeof(kept) / sizeof(kept[0]));
	kept[kept_count++] = *what;
}

void gpu_feeds_set_up(void)
{
	static const struct file_key no_file;

	tables.store = store_new(16);
	tables.procs = procs_new(tables.store);
	for (uint32_t pid = PID; pid <= OTHER; pid++) {
		procs_exec(tables.procs, pid, "train", STARTED_NS);
		procs_mmap(tables.procs, pid, CODE, 0x9000, 0, &no_file, "/no/such/file");
	}
	feeds = gpu_feeds_new(&(struct gpu_feeds_config){.tables = tables, .hash_key = hash_key});
	events = gpu_events_new(&(struct gpu_events_config){
		.feeds = feeds, .tables = tables, .out_of_memory = keep});
	event = (struct gpu_event){.pid = PID, .tid = PID, .image = IMAGE, .time_ns = 1000};
	kept_count = 0;
}

void gpu_feeds_tear_down(void)
{
	while (kept_count)
		profile_unref(kept[--kept_count].profile);
	gpu_events_free(events);
	gpu_feeds_free(feeds);
	procs_free(tables.procs);
	store_free(tables.store);
}

void tell(uint16_t kind, uint64_t address, uint64_t size, uint64_t word)
{
	struct {
		struct gpu_event event;
		uint64_t word;
	} record;

	event.kind = kind;
	event.address = address;
	event.size = size;
	event.words = word != 0;
	event.time_ns++;
	record.event = event;
	record.word = word;
	gpu_events_take(events, &record, sizeof(event) + event.words * sizeof(word));
}

void send_name(uint64_t handle, const char *name)
{
	struct {
		struct gpu_event event;
		char name[64];
	} record = {.event = event};

	record.event.kind = GPU_EVENT_NAME;
	record.event.address = handle;
	record.event.words = sizeof(record.name) / sizeof(uint64_t);
	strncpy(record.name, name, sizeof(record.name) - 1);
	gpu_events_take(events, &record, sizeof(record));
}

void allocate(uint64_t context, enum gpu_memory memory, uint64_t address, uint64_t size)
{
	event.context = context;
	event.memory = memory;
	tell(GPU_EVENT_ALLOC, address, size, 0);
	event.context = 0;
}

struct gpu_figures found[8];
size_t found_count;

static int take_figures(const struct gpu_figures *figures, void *ctx)
{
	(void)ctx;
	ck_assert_uint_lt(found_count, sizeof(found) / sizeof(found[0]));
	found[found_count++] = *figures;
	return 0;
}

const struct gpu_figures *figures(size_t at)
{
	found_count = 0;
	ck_assert_int_eq(gpu_feeds_each(feeds, take_figures, NULL), 0);
	return at < found_count ? &found[at] : NULL;
}

struct gpu_stats stats(void)
{
	struct gpu_stats stats = {0};

	gpu_feeds_get_stats(feeds, &stats);
	gpu_events_get_stats(events, &stats);
	return stats;
}

void add_up(const struct profile *profile, uint64_t sums[PROFILE_VALUES])
{
	memset(sums, 0, PROFILE_VALUES * sizeof(*sums));
	for (uint32_t i = 1; i < profile->sample_count; i++)
		for (size_t value = 0; value < PROFILE_VALUES; value++)
			sums[value] += profile->samples[i].values[value];
}

void check(enum profile_kind kind, bool is_held, uint64_t objects, uint64_t bytes)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	uint64_t count;

	source_describe(sources[kind], 1, builder);
	if (is_held) {
		ck_assert_int_eq(gpu_feeds_held(feeds, kind, builder), 0);
		CHECK_SUMS(builder_view(builder), 0, 0, objects, bytes);
		return;
	}
	ck_assert_int_eq(gpu_feeds_allocated(feeds, kind, builder, &count), 0);
	ck_assert_uint_eq(count, objects);
	CHECK_SUMS(builder_view(builder), objects, bytes, 0, 0);
}

/* Both ways to ask must give the same number. */
uint64_t held(void)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	const struct gpu_feed *feed = gpu_feeds_get(feeds, event.pid, event.image, event.time_ns);
	const struct profile *profile;
	uint64_t bytes = 0;

	source_describe(sources[KIND_gpu_memory], 1, builder);
	ck_assert_int_eq(gpu_feeds_held(feeds, KIND_gpu_memory, builder), 0);
	profile = builder_view(builder);
	for (uint32_t i = 1; i < profile->sample_count; i++)
		bytes += profile->samples[i].values[3];
	ck_assert_uint_eq(gpu_feed_bytes(feed, GPU_LAYER_DRIVER), bytes);
	return bytes;
}

uint64_t freed(void)
{
	const struct gpu_feed *feed = gpu_feeds_get(feeds, event.pid, event.image, event.time_ns);
	uint64_t frees = 0;

	for (size_t i = 0; i < feed->totals.count; i++)
		frees += feed->totals.at[i].figures.frees;
	return frees;
}
