/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What events of GPUs come to: exact figures and profiles, by process, device and stack; names;
 * what is kept when memory is out; and what is left when a process ends.
 */
#include "collect/gpu_feeds.h"

#include "base/clock.h"
#include "collect/source.h"
#include "gpu/calls.h"
#include "tests/unit/suites.h"

#include <string.h>
#include <unistd.h>

enum {
	PID = 4000001, /* over the kernel's default limit: nobody has it, or those after it */
	OTHER,
	CODE = 0x1000, /* mapped in both */
	IMAGE = 7,
};

static struct drain_tables tables;
static struct gpu_feeds *feeds;
static struct gpu_event event;
static struct keepsake kept[8];
static size_t kept_count;

static void keep(const struct keepsake *what, void *ctx)
{
	(void)ctx;
	ck_assert_uint_lt(kept_count, sizeof(kept) / sizeof(kept[0]));
	kept[kept_count++] = *what;
}

static void set_up(void)
{
	static const struct file_key no_file;

	tables.store = store_new(16);
	tables.procs = procs_new(tables.store);
	for (uint32_t pid = PID; pid <= OTHER; pid++) {
		procs_exec(tables.procs, pid, "train", 100);
		procs_mmap(tables.procs, pid, CODE, 0x9000, 0, &no_file, "/no/such/file");
	}
	feeds = gpu_feeds_new(&(struct gpu_feeds_config){.tables = tables, .out_of_memory = keep});
	event = (struct gpu_event){.pid = PID, .tid = PID, .image = IMAGE, .time_ns = 1000};
	kept_count = 0;
}

static void tear_down(void)
{
	while (kept_count)
		profile_unref(kept[--kept_count].profile);
	gpu_feeds_free(feeds);
	procs_free(tables.procs);
	store_free(tables.store);
}

/* Sends the event, with a stack of one word if there is one, a moment after the one before. */
static void tell(uint16_t kind, uint64_t address, uint64_t size, uint64_t word)
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
	gpu_feeds_take(feeds, &record, sizeof(event) + event.words * sizeof(word));
}

static void send_name(uint64_t handle, const char *name)
{
	struct {
		struct gpu_event event;
		char name[64];
	} record = {.event = event};

	record.event.kind = GPU_EVENT_NAME;
	record.event.address = handle;
	record.event.words = sizeof(record.name) / sizeof(uint64_t);
	strncpy(record.name, name, sizeof(record.name) - 1);
	gpu_feeds_take(feeds, &record, sizeof(record));
}

static struct gpu_figures found[8];
static size_t found_count;

static int take_figures(const struct gpu_figures *figures, void *ctx)
{
	(void)ctx;
	ck_assert_uint_lt(found_count, sizeof(found) / sizeof(found[0]));
	found[found_count++] = *figures;
	return 0;
}

static const struct gpu_figures *figures(size_t at)
{
	found_count = 0;
	ck_assert_int_eq(gpu_feeds_each(feeds, take_figures, NULL), 0);
	return at < found_count ? &found[at] : NULL;
}

static struct gpu_stats stats(void)
{
	struct gpu_stats stats = {0};

	gpu_feeds_get_stats(feeds, &stats);
	return stats;
}

/* Sums of values of all samples. */
static void add_up(const struct profile *profile, uint64_t sums[PROFILE_VALUES])
{
	memset(sums, 0, PROFILE_VALUES * sizeof(*sums));
	for (uint32_t i = 1; i < profile->sample_count; i++)
		for (size_t value = 0; value < PROFILE_VALUES; value++)
			sums[value] += profile->samples[i].values[value];
}

#define CHECK_SUMS(profile, a, b, c, d)        \
	do {                                   \
		uint64_t sums[PROFILE_VALUES]; \
		add_up(profile, sums);         \
		ck_assert_uint_eq(sums[0], a); \
		ck_assert_uint_eq(sums[1], b); \
		ck_assert_uint_eq(sums[2], c); \
		ck_assert_uint_eq(sums[3], d); \
	} while (0)

static void check(enum profile_kind kind, bool held, uint64_t objects, uint64_t bytes)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	uint64_t count;

	source_describe(sources[kind], 1, builder);
	if (held) {
		ck_assert_int_eq(gpu_feeds_held(feeds, kind, builder), 0);
		CHECK_SUMS(builder_view(builder), 0, 0, objects, bytes);
		return;
	}
	ck_assert_int_eq(gpu_feeds_allocated(feeds, kind, builder, &count), 0);
	ck_assert_uint_eq(count, objects);
	CHECK_SUMS(builder_view(builder), objects, bytes, 0, 0);
}

START_TEST(allocations_and_frees)
{
	tell(GPU_EVENT_ALLOC, 0x100, 1000, CODE + 1);
	tell(GPU_EVENT_ALLOC, 0x200, 500, CODE + 2);
	tell(GPU_EVENT_FREE, 0x100, 0, 0);
	tell(GPU_EVENT_ALLOC, 0x300, 7, 0);
	check(KIND_gpu_memory, false, 3, 1507);
	/* Each is told once. */
	check(KIND_gpu_memory, false, 0, 0);
	check(KIND_gpu_memory, true, 2, 507);
	check(KIND_gpu_tensor, true, 0, 0);
	ck_assert_uint_eq(figures(0)->allocations, 3);
	ck_assert_uint_eq(figures(0)->frees, 1);
	ck_assert_uint_eq(figures(0)->in_use[GPU_MEMORY_DEVICE], 507);
	ck_assert_uint_eq(figures(0)->peak, 1500);
	ck_assert_str_eq(figures(0)->comm, "train");
}
END_TEST

START_TEST(stacks_and_labels)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	const struct profile *profile;
	const struct task *task;
	const struct location *location;

	event.device = 3;
	event.memory = GPU_MEMORY_PINNED;
	event.call = 1;
	source_describe(sources[KIND_gpu_memory], 1, builder);
	tell(GPU_EVENT_ALLOC, 0x100, 1000, CODE + 1);
	tell(GPU_EVENT_ALLOC, 0x200, 1000, CODE + 1);
	tell(GPU_EVENT_ALLOC, 0x300, 10, 0);
	ck_assert_int_eq(gpu_feeds_held(feeds, KIND_gpu_memory, builder), 0);
	profile = builder_view(builder);
	ck_assert_uint_eq(profile->sample_count, 3);
	ck_assert_uint_eq(profile->samples[1].values[3], 2000);
	location = &profile->locations[profile->nodes[profile->samples[1].node].location];
	ck_assert_uint_eq(location->address, 1);
	task = &profile->tasks[profile->samples[1].task];
	ck_assert_str_eq(profile_string(profile, task->device), "3");
	ck_assert_str_eq(profile_string(profile, task->memory), "pinned");
	ck_assert_str_eq(profile_string(profile, task->call), gpu_call_name(1));
	ck_assert_str_eq(profile_string(profile, task->comm), "train");
	location = &profile->locations[profile->nodes[profile->samples[2].node].location];
	ck_assert_str_eq(profile_string(profile, profile->mappings[location->mapping].path),
	                 "[stack not taken]");
}
END_TEST

START_TEST(out_of_order)
{
	/* The free of the first is told after the second has its address. */
	tell(GPU_EVENT_ALLOC, 0x100, 1000, 0);
	tell(GPU_EVENT_ALLOC, 0x100, 300, 0);
	event.time_ns -= 2;
	tell(GPU_EVENT_FREE, 0x100, 0, 0);
	check(KIND_gpu_memory, true, 1, 300);
	ck_assert_uint_eq(figures(0)->peak, 1000);
	ck_assert_uint_eq(figures(0)->frees, 1);
	/* A free twice, one of nothing, and one of what nobody knows. */
	event.time_ns += 10;
	tell(GPU_EVENT_FREE, 0x100, 0, 0);
	tell(GPU_EVENT_FREE, 0x100, 0, 0);
	tell(GPU_EVENT_FREE, 0, 0, 0);
	tell(GPU_EVENT_FREE, 0x777, 0, 0);
	check(KIND_gpu_memory, true, 0, 0);
	ck_assert_uint_eq(figures(0)->frees, 2);
	ck_assert_uint_eq(figures(0)->in_use[GPU_MEMORY_DEVICE], 0);
	ck_assert_uint_eq(stats().unmatched, 2);
}
END_TEST

START_TEST(devices_and_processes)
{
	tell(GPU_EVENT_ALLOC, 0x100, 1000, 0);
	event.device = 1;
	tell(GPU_EVENT_ALLOC, 0x200, 200, 0);
	event.device = GPU_DEVICE_HOST;
	event.memory = GPU_MEMORY_PINNED;
	tell(GPU_EVENT_ALLOC, 0x300, 30, 0);
	event.pid = OTHER;
	event.device = 0;
	event.memory = GPU_MEMORY_DEVICE;
	tell(GPU_EVENT_ALLOC, 0x100, 4, 0);
	/* Whatever the thread that frees says of its device. */
	event.pid = PID;
	event.device = 1;
	tell(GPU_EVENT_FREE, 0x100, 0, 0);
	ck_assert_uint_eq(figures(0)->in_use[GPU_MEMORY_DEVICE], 0);
	ck_assert_uint_eq(found_count, 4);
	ck_assert_uint_eq(found[0].pid, PID);
	ck_assert_uint_eq(found[0].peak, 1000);
	ck_assert_uint_eq(found[0].frees, 1);
	ck_assert_uint_eq(found[1].device, 1);
	ck_assert_uint_eq(found[1].in_use[GPU_MEMORY_DEVICE], 200);
	ck_assert_uint_eq(found[2].device, GPU_DEVICE_HOST);
	ck_assert_uint_eq(found[2].in_use[GPU_MEMORY_PINNED], 30);
	ck_assert_uint_eq(found[3].pid, OTHER);
	ck_assert_uint_eq(found[3].in_use[GPU_MEMORY_DEVICE], 4);
	check(KIND_gpu_memory, true, 3, 234);
}
END_TEST

START_TEST(tensors_are_apart)
{
	tell(GPU_EVENT_ALLOC, 0x100, 1000, 0);
	event.layer = GPU_LAYER_TENSOR;
	event.allocated = 512;
	event.reserved = 1000;
	tell(GPU_EVENT_ALLOC, 0x100, 512, 0);
	check(KIND_gpu_memory, true, 1, 1000);
	check(KIND_gpu_tensor, true, 1, 512);
	ck_assert_uint_eq(figures(0)->in_use[GPU_MEMORY_TENSOR], 512);
	ck_assert_uint_eq(figures(0)->peak, 1000);
	ck_assert_uint_eq(figures(0)->tensors_reserved, 1000);
	event.allocated = 0;
	tell(GPU_EVENT_FREE, 0x100, 0, 0);
	check(KIND_gpu_tensor, true, 0, 0);
	check(KIND_gpu_memory, true, 1, 1000);
	ck_assert_uint_eq(figures(0)->tensors_allocated, 0);
}
END_TEST

/* XLA's allocators say nothing of themselves. */
START_TEST(tensors_without_totals)
{
	enum gpu_library library;

	event.layer = GPU_LAYER_TENSOR;
	event.memory = GPU_MEMORY_TENSOR;
	event.call =
		gpu_call_of("_ZN3tsl12BFCAllocator11AllocateRawEmmRKNS_20AllocationAttributesE",
	                    GPU_LIBRARY_XLA, &library);
	tell(GPU_EVENT_ALLOC, 0x100, 512, 0);
	tell(GPU_EVENT_ALLOC, 0x200, 256, 0);
	ck_assert_uint_eq(figures(0)->tensors_allocated, 768);
	/* Who frees does not say of which device. */
	event.device = GPU_DEVICE_HOST;
	tell(GPU_EVENT_FREE, 0x100, 0, 0);
	ck_assert_uint_eq(figures(0)->tensors_allocated, 256);
	ck_assert_uint_eq(found_count, 1);
	check(KIND_gpu_tensor, true, 1, 256);
}
END_TEST

START_TEST(process_ends)
{
	tell(GPU_EVENT_ALLOC, 0x100, 1000, 0);
	event.pid = OTHER;
	tell(GPU_EVENT_ALLOC, 0x100, 20, 0);
	gpu_feeds_settle(feeds);
	check(KIND_gpu_memory, true, 2, 1020);
	procs_exit(tables.procs, PID, PID, event.time_ns + 1);
	gpu_feeds_settle(feeds);
	check(KIND_gpu_memory, true, 1, 20);
	/* What it did is told, if it is not there any more. */
	check(KIND_gpu_memory, false, 2, 1020);
	ck_assert_uint_eq(figures(0)->pid, OTHER);
	ck_assert_uint_eq(stats().processes, 1);
	for (int drain = 0; drain < 4; drain++)
		gpu_feeds_drained(feeds, NSEC_PER_SEC);
	check(KIND_gpu_memory, true, 1, 20);
}
END_TEST

START_TEST(goes_on_after_all)
{
	uint32_t self = (uint32_t)getpid();

	event.pid = self;
	tell(GPU_EVENT_ALLOC, 0x100, 20, 0);
	procs_exit(tables.procs, self, self, event.time_ns + 1);
	gpu_feeds_settle(feeds);
	check(KIND_gpu_memory, true, 0, 0);
	procs_expire(tables.procs, event.time_ns + 2);
	ck_assert(!procs_known(tables.procs, self));
	/* Nobody has noted its threads; but it is there. */
	gpu_feeds_settle(feeds);
	for (int drain = 0; drain < 4; drain++)
		gpu_feeds_drained(feeds, NSEC_PER_SEC);
	check(KIND_gpu_memory, true, 1, 20);
}
END_TEST

START_TEST(one_user_does_not_take_all)
{
	/* Of nobody, and so of one and the same user. */
	for (uint32_t i = 0; i < 2 * MAX_GPU_FEEDS; i++) {
		event.pid = PID + i;
		tell(GPU_EVENT_ALLOC, 0x100, 1, 0);
	}
	ck_assert_uint_eq(stats().processes, MAX_GPU_FEEDS / 2);
	ck_assert_uint_eq(stats().processes_lost, 2 * MAX_GPU_FEEDS - MAX_GPU_FEEDS / 2);
	event.pid = (uint32_t)getpid();
	tell(GPU_EVENT_ALLOC, 0x100, 1, 0);
	ck_assert_uint_eq(stats().processes, MAX_GPU_FEEDS / 2 + 1);
	/* Who was refused is asked about again when there may be room. */
	for (int drain = 0; drain < 4; drain++) {
		gpu_feeds_settle(feeds);
		gpu_feeds_drained(feeds, NSEC_PER_SEC);
	}
	event.pid = PID + 2 * MAX_GPU_FEEDS - 1;
	tell(GPU_EVENT_ALLOC, 0x100, 1, 0);
	ck_assert_uint_eq(stats().processes_lost, 2 * MAX_GPU_FEEDS - MAX_GPU_FEEDS / 2);
}
END_TEST

START_TEST(no_room_for_what_is_new)
{
	struct gpu_feed *feed = gpu_feeds_get(feeds, PID, IMAGE, 1000);

	tell(GPU_EVENT_ALLOC, 0x100, 1000, 0);
	feed->paths.crowded = true;
	/* Its free was lost: what was there is gone, and this may be kept in its stead. */
	tell(GPU_EVENT_ALLOC, 0x100, 30, 0);
	check(KIND_gpu_memory, true, 1, 30);
	for (uint64_t i = 1; i < 1000; i++)
		tell(GPU_EVENT_ALLOC, 0x100 + i, 1, 0);
	ck_assert_uint_gt(stats().table_full, 900);
	tell(GPU_EVENT_ALLOC, 0x100, 7, 0);
	tell(GPU_EVENT_FREE, 0x100, 0, 0);
	ck_assert_uint_eq(figures(0)->in_use[GPU_MEMORY_DEVICE], 1000 - 1 - stats().table_full);
}
END_TEST

START_TEST(exec_in_between)
{
	tell(GPU_EVENT_ALLOC, 0x100, 1000, 0);
	send_name(5, "before");
	procs_exec(tables.procs, PID, "other", event.time_ns + 1);
	event.time_ns += 2;
	event.image = IMAGE + 1;
	tell(GPU_EVENT_ALLOC, 0x200, 30, 0);
	/* Of the program that is gone: it frees nothing of the new one's. */
	event.image = IMAGE;
	tell(GPU_EVENT_FREE, 0x200, 0, 0);
	gpu_feeds_settle(feeds);
	check(KIND_gpu_memory, true, 1, 30);
	ck_assert_str_eq(figures(0)->comm, "other");
	ck_assert_uint_eq(found_count, 1);
	ck_assert_ptr_null(
		gpu_names_find(&gpu_feeds_get(feeds, PID, IMAGE + 1, event.time_ns)->handles, 5));
}
END_TEST

START_TEST(names)
{
	const struct gpu_handles *handles = &gpu_feeds_get(feeds, PID, IMAGE, 1000)->handles;

	send_name(5, "_Z3addPf");
	event.pid = OTHER;
	send_name(5, "_Z3subPf");
	send_name(6, "_Z3addPf");
	event.pid = PID;
	tell(GPU_EVENT_ALIAS, 9, 5, 0);
	tell(GPU_EVENT_ALIAS, 10, 99, 0);
	ck_assert_str_eq(gpu_names_find(handles, 5), "_Z3addPf");
	ck_assert_str_eq(gpu_names_find(handles, 9), "_Z3addPf");
	ck_assert_ptr_null(gpu_names_find(handles, 10));
	ck_assert_ptr_null(gpu_names_find(handles, 6));
	/* A handle that is used again. */
	send_name(5, "_Z3mulPf");
	ck_assert_str_eq(gpu_names_find(handles, 5), "_Z3mulPf");
	ck_assert_str_eq(gpu_names_find(handles, 9), "_Z3addPf");
	ck_assert_uint_eq(stats().names, 4);
	procs_exit(tables.procs, PID, PID, event.time_ns + 1);
	gpu_feeds_settle(feeds);
	for (int drain = 0; drain < 3; drain++)
		gpu_feeds_drained(feeds, NSEC_PER_SEC);
	ck_assert_uint_eq(stats().names, 2);
}
END_TEST

START_TEST(out_of_memory)
{
	const struct profile *profile;
	uint32_t last;

	tell(GPU_EVENT_ALLOC, 0x100, 1000, CODE + 1);
	tell(GPU_EVENT_ALLOC, 0x200, 500, CODE + 2);
	tell(GPU_EVENT_OOM, 0, 1 << 30, CODE + 3);
	ck_assert_uint_eq(kept_count, 1);
	ck_assert_uint_eq(kept[0].pid, PID);
	ck_assert_uint_eq(kept[0].kind, KIND_gpu_memory);
	ck_assert_int_eq(kept[0].reason, KEEPSAKE_gpu_memory);
	ck_assert_str_eq(kept[0].comm, "train");
	ck_assert_uint_eq(kept[0].bytes, 1500);
	profile = kept[0].profile;
	CHECK_SUMS(profile, 1, 1 << 30, 2, 1500);
	last = profile->samples[profile->sample_count - 1].task;
	ck_assert_str_eq(profile_string(profile, profile->tasks[last].memory), "device, failed");
	ck_assert_uint_eq(figures(0)->failures, 1);
	ck_assert_uint_eq(figures(0)->allocations, 2);
	check(KIND_gpu_memory, false, 2, 1500);
	check(KIND_gpu_memory, true, 2, 1500);
	/* The framework's own word for it is of its own profile. */
	event.layer = GPU_LAYER_TENSOR;
	tell(GPU_EVENT_OOM, 0, 1 << 20, CODE + 3);
	ck_assert_uint_eq(kept[1].kind, KIND_gpu_tensor);
	CHECK_SUMS(kept[1].profile, 1, 1 << 20, 0, 0);
}
END_TEST

START_TEST(out_of_memory_again_and_again)
{
	for (int i = 0; i < 100; i++)
		tell(GPU_EVENT_OOM, 0, 1 << 30, 0);
	/* Two calls that were begun the other way round than they ended. */
	for (int i = 0; i < 100; i++) {
		tell(GPU_EVENT_OOM, 0, 1 << 30, 0);
		event.time_ns -= 200;
		tell(GPU_EVENT_OOM, 0, 1 << 30, 0);
		event.time_ns += 200;
	}
	ck_assert_uint_eq(kept_count, GPU_FAILURES_A_SECOND);
	ck_assert_uint_eq(figures(0)->failures, 300);
	event.time_ns += NSEC_PER_SEC;
	tell(GPU_EVENT_OOM, 0, 1 << 30, 0);
	ck_assert_uint_eq(kept_count, GPU_FAILURES_A_SECOND + 1);
}
END_TEST

START_TEST(nonsense)
{
	static const uint64_t zeros[16];

	gpu_feeds_take(feeds, zeros, 8);
	gpu_feeds_take(feeds, zeros, sizeof(zeros));
	event.memory = GPU_MEMORY_COUNT;
	tell(GPU_EVENT_ALLOC, 0x100, 1000, 0);
	event.memory = 0;
	event.layer = 77;
	tell(GPU_EVENT_ALLOC, 0x100, 1000, 0);
	event.layer = 0;
	event.words = 500;
	event.kind = GPU_EVENT_ALLOC;
	gpu_feeds_take(feeds, &event, sizeof(event));
	ck_assert_uint_eq(stats().malformed, 5);
	ck_assert_uint_eq(stats().processes, 0);
}
END_TEST

Suite *gpu_feeds_suite(void)
{
	Suite *suite = suite_create("gpu_feeds");
	TCase *tcase = tcase_create("gpu_feeds");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, allocations_and_frees);
	tcase_add_test(tcase, stacks_and_labels);
	tcase_add_test(tcase, out_of_order);
	tcase_add_test(tcase, devices_and_processes);
	tcase_add_test(tcase, tensors_are_apart);
	tcase_add_test(tcase, tensors_without_totals);
	tcase_add_test(tcase, process_ends);
	tcase_add_test(tcase, goes_on_after_all);
	tcase_add_test(tcase, one_user_does_not_take_all);
	tcase_add_test(tcase, no_room_for_what_is_new);
	tcase_add_test(tcase, exec_in_between);
	tcase_add_test(tcase, names);
	tcase_add_test(tcase, out_of_memory);
	tcase_add_test(tcase, out_of_memory_again_and_again);
	tcase_add_test(tcase, nonsense);
	suite_add_tcase(suite, tcase);
	return suite;
}
