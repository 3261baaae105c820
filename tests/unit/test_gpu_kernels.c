/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * GPU kernels are matched with their launches.
 */
#include "gpu/gpu_kernels.h"

#include "gpu/gpu_launches.h"
#include "ingest/source.h"
#include "tests/unit/suites.h"

#include <stdio.h>
#include <string.h>

enum { PID = 4000001, THREAD = 4000007, FILE_START = 0x1000, LIBRARY = 0x8000, CUPTI = 0xa000 };
enum { LAUNCHED_NS = 200, SINCE_NS = 2000 };
enum { MANY = 100 * 1000 }; /* kinds of kernels, more than there is room for */

static struct drain_tables tables;
static struct gpu_kernels *kernels;
static struct drain_losses losses;

static void set_up(void)
{
	static const struct file_key no_file;

	tables = (struct drain_tables){.store = store_new(16)};
	tables.procs = procs_new(tables.store);
	procs_exec(tables.procs, PID, "trains", 100);
	procs_mmap(tables.procs, PID, FILE_START, 0x3000, 0, &no_file, "/no/such/program");
	procs_mmap(tables.procs, PID, LIBRARY, 0x9000, 0, &no_file, "/no/libprofd-cuda.so");
	procs_mmap(tables.procs, PID, CUPTI, 0xb000, 0, &no_file, "/no/libcupti.so.12");
	kernels = gpu_kernels_new(&tables);
	losses = (struct drain_losses){0};
}

static void tear_down(void)
{
	gpu_kernels_free(kernels);
	procs_free(tables.procs);
	store_free(tables.store);
}

static void launched(uint64_t correlation, uint32_t image, const uint64_t *words, uint16_t count)
{
	gpu_kernels_launched(kernels,
	                     &(struct gpu_event){
				     .kind = GPU_EVENT_LAUNCHED,
				     .time_ns = LAUNCHED_NS,
				     .address = correlation,
				     .pid = PID,
				     .tid = THREAD,
				     .image = image,
				     .words = count,
			     },
	                     words);
}

static void ran(uint64_t correlation, uint64_t ns, uint64_t weight, uint64_t count,
                const char *name)
{
	char padded[GPU_NAME_BYTES + 64] = "";

	ck_assert_uint_lt(strlen(name), sizeof(padded));
	memcpy(padded, name, strlen(name));
	gpu_kernels_ran(kernels,
	                &(struct gpu_event){
				.kind = GPU_EVENT_RAN,
				.time_ns = LAUNCHED_NS + SINCE_NS,
				.address = correlation,
				.size = ns,
				.allocated = weight,
				.reserved = count,
				.pid = PID,
				.tid = PID + 1,
				.image = 1,
				.device = 3,
				.words = (uint16_t)((strlen(name) + 8) / 8),
			},
	                padded);
}

static struct profile *slice_until(uint64_t end_ns)
{
	struct half half = {.span = {.end_mono_ns = end_ns}, .losses = &losses};
	struct builder *builder = builder_new();
	struct profile *slice;
	uint64_t told;

	source_describe(sources[KIND_gpu_kernel], 1, builder);
	ck_assert_int_eq(gpu_kernels_fill(kernels, &half, builder, &told), 0);
	ck_assert_int_eq(builder_seal(builder, &slice), 0);
	builder_free(builder);
	return slice;
}

/* "LEAF < CALLER ...: kernels nanoseconds", with the names of lines and mappings. */
static void describe(const struct profile *slice, uint32_t at, char text[256])
{
	const struct sample *sample = &slice->samples[at];
	size_t len = 0;

	ck_assert_uint_lt(at, slice->sample_count);
	for (uint32_t id = sample->node; id; id = slice->nodes[id].parent) {
		const struct location *location = &slice->locations[slice->nodes[id].location];
		uint32_t name =
			location->line_count
				? slice->functions[slice->lines[location->first_line].function].name
				: slice->mappings[location->mapping].path;

		len += (size_t)snprintf(text + len, 256 - len, "%s < ",
		                        profile_string(slice, name));
		ck_assert_uint_lt(len, 256);
	}
	snprintf(text + len, 256 - len, "%lu %lu", sample->values[0], sample->values[1]);
}

#define ASSERT_SAMPLE(slice, at, expected)         \
	do {                                       \
		char text_[256];                   \
		describe(slice, at, text_);        \
		ck_assert_str_eq(text_, expected); \
	} while (0)

START_TEST(test_join)
{
	const uint64_t words[] = {LIBRARY + 8, CUPTI + 8, FILE_START + 8, FILE_START + 0x100};
	struct profile *slice;
	const struct task *task;

	launched(7, 1, words, 4);
	ran(7, 1000, 3, 1, "_Z4axpyPfS_");
	ran(7, 50, 3, 2, "plain");
	ran(7, 1000, 3, 1, "_Z4axpyPfS_");
	slice = slice_until(1000);
	ck_assert_uint_eq(slice->sample_count, 3);
	ASSERT_SAMPLE(slice, 1, "_Z4axpyPfS_ < /no/such/program < /no/such/program < 6 6000");
	ASSERT_SAMPLE(slice, 2, "plain < /no/such/program < /no/such/program < 6 150");
	task = &slice->tasks[slice->samples[1].task];
	ck_assert_uint_eq(task->tid, THREAD);
	ck_assert_str_eq(profile_string(slice, task->device), "3");
	ck_assert_str_eq(profile_string(slice, task->kernel), "_Z4axpyPfS_");
	ck_assert_str_eq(profile_string(slice, task->comm), "trains");
	profile_unref(slice);
}
END_TEST

/* A kernel may run in a later slice than its launch. A launch of another program with the same
 * number does not match. */
START_TEST(test_slices)
{
	const uint64_t words[] = {FILE_START + 8};
	struct gpu_kernels_stats stats;
	struct profile *slice;

	launched(7, 1, words, 1);
	launched(8, 2, words, 1);
	slice = slice_until(1000);
	ck_assert_uint_eq(slice->sample_count, 1);
	profile_unref(slice);
	ran(7, 10, 1, 1, "late");
	ran(8, 10, 0, 0, "of another");
	slice = slice_until(2000);
	ASSERT_SAMPLE(slice, 1, "late < /no/such/program < 1 10");
	ASSERT_SAMPLE(slice, 2, "of another < [launch not known] < 1 10");
	profile_unref(slice);
	gpu_kernels_get_stats(kernels, &stats);
	ck_assert_uint_eq(stats.launches, 2);
	ck_assert_uint_eq(stats.kernels, 2);
	ck_assert_uint_eq(stats.kernels_unplaced, 1);
}
END_TEST

START_TEST(test_age)
{
	const uint64_t words[] = {FILE_START + 8};
	const uint64_t kept_ns = GPU_LAUNCH_KEPT_S * 1000000000ULL;
	struct gpu_kernels_stats stats;

	launched(7, 1, words, 1);
	profile_unref(slice_until(kept_ns + 200));
	gpu_kernels_get_stats(kernels, &stats);
	ck_assert_uint_eq(stats.launches_unused, 0);
	profile_unref(slice_until(kept_ns + 201));
	gpu_kernels_get_stats(kernels, &stats);
	ck_assert_uint_eq(stats.launches_unused, 1);
	ran(7, 10, 1, 1, "old");
	gpu_kernels_get_stats(kernels, &stats);
	ck_assert_uint_eq(stats.kernels_unplaced, 1);
}
END_TEST

/* Any process can report names without an end, sums that would overflow, and empty stacks. */
START_TEST(test_hostile)
{
	char name[GPU_NAME_BYTES + 17];
	struct profile *slice;

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	launched(1, 1, &(uint64_t){0}, 0);
	ran(1, UINT64_MAX, UINT64_MAX, UINT64_MAX, "");
	ran(1, 5, 1, 1, name);
	slice = slice_until(1000);
	ck_assert_uint_eq(slice->sample_count, 3);
	/* 128 kernels at once since the launch, times the weight, but no more than an hour. */
	ASSERT_SAMPLE(slice, 1, "[kernel without a name] < [no stack] < 3600000000 3600000000000");
	ck_assert_uint_eq(
		strlen(profile_string(slice, slice->tasks[slice->samples[2].task].kernel)),
		GPU_NAME_BYTES);
	profile_unref(slice);
}
END_TEST

/* A kernel runs after its launch. */
START_TEST(test_longer_than_since_launch)
{
	const uint64_t words[] = {FILE_START + 8};
	const uint64_t hour_ns = 3600 * 1000000000ULL;
	struct profile *slice;

	launched(7, 1, words, 1);
	ran(7, SINCE_NS, 1, 1, "just");
	ran(7, SINCE_NS + 1, 1, 1, "too long");
	ran(7, 100 * SINCE_NS, 1, 100, "side by side");
	ran(7, 1000 * SINCE_NS, 3, 1000, "so many at once");
	ran(8, 10 * SINCE_NS, 1, 1, "not known");
	ran(8, 2 * hour_ns, 1, 1, "not known, too long");
	slice = slice_until(1000);
	ASSERT_SAMPLE(slice, 1, "just < /no/such/program < 1 2000");
	ASSERT_SAMPLE(slice, 2, "too long < /no/such/program < 1 2000");
	ASSERT_SAMPLE(slice, 3, "side by side < /no/such/program < 100 200000");
	ASSERT_SAMPLE(slice, 4, "so many at once < /no/such/program < 3000 768000");
	ASSERT_SAMPLE(slice, 5, "not known < [launch not known] < 1 20000");
	ASSERT_SAMPLE(slice, 6, "not known, too long < [launch not known] < 1 3600000000000");
	profile_unref(slice);
}
END_TEST

/* Reports of times as long as a number can say, of one kernel. */
START_TEST(test_sums_do_not_wrap)
{
	struct profile *slice;

	for (int i = 0; i < 1000; i++)
		ran(7, UINT64_MAX, UINT64_MAX, UINT64_MAX, "k");
	slice = slice_until(1000);
	ASSERT_SAMPLE(slice, 1, "k < [launch not known] < 3600000000000 3600000000000000");
	profile_unref(slice);
}
END_TEST

/* More kinds of kernels than a slice has room for, with names as long as they may be: the others
 * are counted, and the next slice has room again. */
START_TEST(test_full)
{
	char name[GPU_NAME_BYTES + 1];
	struct gpu_kernels_stats stats;
	struct profile *slice;

	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "%0*d", GPU_NAME_BYTES, i);
		ran(7, 10, 1, 1, name);
	}
	gpu_kernels_get_stats(kernels, &stats);
	slice = slice_until(1000);
	/* Entry 0 is no sample. */
	ck_assert_uint_eq(slice->sample_count + stats.kernels_lost, MANY + 1);
	ck_assert_uint_ge(slice->sample_count, 5000);
	ck_assert_uint_le(slice->memory_bytes, MAX_GPU_KERNELS_BYTES / 2 + 1000);
	profile_unref(slice);
	ran(7, 10, 1, 1, "k0");
	slice = slice_until(2000);
	ck_assert_uint_eq(slice->sample_count, 2);
	profile_unref(slice);
}
END_TEST

/* An account that reports too much loses only its own reports; another account still has room. */
START_TEST(test_shares)
{
	struct gpu_event event = {.pid = PID, .image = 1, .words = 2, .reserved = 1, .account = 1};
	struct gpu_launches *launches = gpu_launches_new();
	static const uint64_t words[2];
	struct gpu_kernels_stats stats;
	struct profile *slice;
	uint64_t lost;
	char name[32];

	for (event.address = 0; event.address < 5; event.address++)
		ck_assert_int_eq(gpu_launches_add(launches, &event, words), 0);
	event.account = 2;
	for (; event.address < 2 * MAX_GPU_LAUNCHES; event.address++)
		ck_assert_int_eq(gpu_launches_add(launches, &event, words), 0);
	for (event.address = 0; event.address < 5; event.address++)
		ck_assert_ptr_nonnull(gpu_launches_use(launches, &event));
	ck_assert_ptr_null(gpu_launches_use(launches, &event));
	gpu_launches_free(launches);

	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "k%d", i);
		gpu_kernels_ran(kernels, &event, name);
	}
	gpu_kernels_get_stats(kernels, &stats);
	lost = stats.kernels_lost;
	ck_assert_uint_gt(lost, 0);
	ck_assert_uint_lt(lost, MANY - 15000);
	event.account = 1;
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "another's %d", i);
		gpu_kernels_ran(kernels, &event, name);
	}
	gpu_kernels_get_stats(kernels, &stats);
	ck_assert_uint_eq(stats.kernels_lost, lost);
	slice = slice_until(1000);
	ck_assert_uint_eq(slice->sample_count, MANY - lost + 1001); /* entry 0 is no sample */
	profile_unref(slice);
}
END_TEST

/* The oldest launches are dropped, by number and by bytes. */
START_TEST(test_bounds)
{
	static const uint64_t words[1000];
	struct gpu_launches *launches = gpu_launches_new();
	struct gpu_event event = {.pid = PID, .image = 1};

	for (event.address = 0; event.address < MAX_GPU_LAUNCHES + 5; event.address++)
		ck_assert_int_eq(gpu_launches_add(launches, &event, words), 0);
	ck_assert_uint_eq(gpu_launches_count(launches), MAX_GPU_LAUNCHES);
	ck_assert_uint_eq(gpu_launches_unused(launches), 5);
	event.address = 4;
	ck_assert_ptr_null(gpu_launches_use(launches, &event));
	event.address = 5;
	ck_assert_ptr_nonnull(gpu_launches_use(launches, &event));
	event.words = 1000;
	for (event.address = 0; event.address < 4000; event.address++)
		ck_assert_int_eq(gpu_launches_add(launches, &event, words), 0);
	ck_assert_uint_lt(gpu_launches_count(launches), MAX_GPU_LAUNCH_BYTES / 8000 + 1);
	ck_assert_uint_gt(gpu_launches_count(launches), MAX_GPU_LAUNCH_BYTES / 8000 - 100);
	gpu_launches_free(launches);
}
END_TEST

Suite *gpu_kernels_suite(void)
{
	Suite *suite = suite_create("gpu_kernels");
	TCase *tcase = tcase_create("gpu_kernels");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, test_join);
	tcase_add_test(tcase, test_slices);
	tcase_add_test(tcase, test_age);
	tcase_add_test(tcase, test_hostile);
	tcase_add_test(tcase, test_longer_than_since_launch);
	tcase_add_test(tcase, test_sums_do_not_wrap);
	tcase_add_test(tcase, test_full);
	tcase_add_test(tcase, test_shares);
	tcase_add_test(tcase, test_bounds);
	suite_add_tcase(suite, tcase);
	return suite;
}
