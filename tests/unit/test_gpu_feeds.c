/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Figures and profiles made from GPU events, exact, by process, device and stack; names of
 * kernels. */
#include "bpf/unwind_table.h"
#include "object/reach.h"
#include "tests/unit/gpu_feeds_fixture.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

START_TEST(allocations_and_frees)
{
	tell(GPU_EVENT_ALLOC, 0x100, 1000, CODE + 1);
	tell(GPU_EVENT_ALLOC, 0x200, 500, CODE + 2);
	tell(GPU_EVENT_FREE, 0x100, 0, 0);
	tell(GPU_EVENT_ALLOC, 0x300, 7, 0);
	check(KIND_gpu_memory, false, 3, 1507);
	/* Each allocation is reported once. */
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

/* The name of a handle of this process; NULL: none. */
static const char *own_name(uint64_t handle)
{
	return gpu_names_find(&gpu_feeds_get(feeds, event.pid, event.image, event.time_ns)->handles,
	                      handle);
}

static void be_this_process(void)
{
	event.pid = (uint32_t)getpid();
	event.reserved = reach_began_boot_ns(event.pid);
}

/* A name that was not in memory when it was reported is read from the process. */
START_TEST(names_that_come_later)
{
	static const char name[] = "_Z6kernelPf";
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 3 * page_bytes, PROT_READ | PROT_WRITE,
	                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *across = pages + page_bytes - 4, *untouched = pages + 2 * page_bytes;
	struct gpu_stats stats;

	ck_assert_ptr_ne(pages, MAP_FAILED);
	memcpy(across, name, sizeof(name));
	be_this_process();
	procs_exec(tables.procs, event.pid, "train", 100);
	tell(GPU_EVENT_NAME, 1, (uintptr_t)name, 0);
	tell(GPU_EVENT_NAME, 2, (uintptr_t)across, 0);
	ck_assert_str_eq(own_name(1), name);
	ck_assert_str_eq(own_name(2), name);
	/* A page that is not in memory is not waited for, and nothing is read from another
	 * program. */
	tell(GPU_EVENT_NAME, 3, (uintptr_t)untouched, 0);
	ck_assert_ptr_null(own_name(3));
	procs_exec(tables.procs, event.pid, "other", event.time_ns + 1);
	tell(GPU_EVENT_NAME, 4, (uintptr_t)name, 0);
	ck_assert_ptr_null(own_name(4));
	gpu_feeds_get_stats(feeds, &stats);
	ck_assert_uint_eq(stats.names, 2);
	ck_assert_uint_eq(stats.names_lost, 2);
	munmap(pages, 3 * page_bytes);
}
END_TEST

/* A crew reads the names. Changes of a handle in the meantime take precedence. */
START_TEST(names_that_a_crew_reads)
{
	/* On the stack, which is certainly in memory. After the fork for this test a page of the
	 * program's file need not be. */
	const char name[] = "_Z6kernelPf";
	static uint64_t execs[EXEC_TIMES];
	struct crew *crew;
	uv_loop_t loop;

	uv_loop_init(&loop);
	ck_assert_int_eq(
		crew_new(&(struct crew_config){.loop = &loop, .deadline_ns = 2000000000}, &crew),
		0);
	gpu_events_free(events);
	tables.crew = crew;
	tables.execs = execs;
	events = gpu_events_new(&(struct gpu_events_config){.feeds = feeds, .tables = tables});
	be_this_process();
	procs_exec(tables.procs, event.pid, "train", 100);
	tell(GPU_EVENT_NAME, 1, (uintptr_t)name, 0);
	tell(GPU_EVENT_ALIAS, 2, 1, 0);
	tell(GPU_EVENT_NAME, 3, (uintptr_t)name, 0);
	send_name(3, "another");
	ck_assert_ptr_null(own_name(1));
	crew_settle(crew, 1000000000);
	ck_assert_str_eq(own_name(1), name);
	ck_assert_str_eq(own_name(2), name);
	ck_assert_str_eq(own_name(3), "another");
	/* Another program has begun to run in the meantime, and the side-band has not reported it
	 * yet. */
	tell(GPU_EVENT_NAME, 5, (uintptr_t)name, 0);
	execs[event.pid & (EXEC_TIMES - 1)] = event.time_ns + 1;
	crew_settle(crew, 1000000000);
	ck_assert_ptr_null(own_name(5));
	execs[event.pid & (EXEC_TIMES - 1)] = event.time_ns;
	tell(GPU_EVENT_NAME, 5, (uintptr_t)name, 0);
	crew_settle(crew, 1000000000);
	ck_assert_str_eq(own_name(5), name);
	/* A job that is running when the crew stops is given up, or still delivered. */
	tell(GPU_EVENT_NAME, 4, (uintptr_t)name, 0);
	crew_stop(crew);
	tables.crew = NULL;
	tables.execs = NULL;
	uv_run(&loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(uv_loop_close(&loop), 0);
	crew_free(crew);
}
END_TEST

START_TEST(out_of_order)
{
	/* The free of the first allocation is reported after the second one has got its address. */
	tell(GPU_EVENT_ALLOC, 0x100, 1000, 0);
	tell(GPU_EVENT_ALLOC, 0x100, 300, 0);
	event.time_ns -= 2;
	tell(GPU_EVENT_FREE, 0x100, 0, 0);
	check(KIND_gpu_memory, true, 1, 300);
	ck_assert_uint_eq(figures(0)->peak, 1000);
	ck_assert_uint_eq(figures(0)->frees, 1);
	/* A second free, a free of address 0, and a free of an unknown address. */
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
	/* The device that the freeing thread reports does not matter. */
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

/* XLA's allocators report no totals. */
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
	/* A free does not report its device. */
	event.device = GPU_DEVICE_HOST;
	tell(GPU_EVENT_FREE, 0x100, 0, 0);
	ck_assert_uint_eq(figures(0)->tensors_allocated, 256);
	ck_assert_uint_eq(found_count, 1);
	check(KIND_gpu_tensor, true, 1, 256);
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
	/* The handle is used again. */
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

START_TEST(nonsense)
{
	static const uint64_t zeros[16];

	gpu_events_take(events, zeros, 8);
	gpu_events_take(events, zeros, sizeof(zeros));
	event.memory = GPU_MEMORY_COUNT;
	tell(GPU_EVENT_ALLOC, 0x100, 1000, 0);
	event.memory = 0;
	event.layer = 77;
	tell(GPU_EVENT_ALLOC, 0x100, 1000, 0);
	event.layer = 0;
	event.words = 500;
	event.kind = GPU_EVENT_ALLOC;
	gpu_events_take(events, &event, sizeof(event));
	ck_assert_uint_eq(stats().malformed, 5);
	ck_assert_uint_eq(stats().processes, 0);
}
END_TEST

Suite *gpu_feeds_suite(void)
{
	Suite *suite = suite_create("gpu_feeds");
	TCase *tcase = tcase_create("gpu_feeds");

	tcase_add_checked_fixture(tcase, gpu_feeds_set_up, gpu_feeds_tear_down);
	tcase_add_test(tcase, allocations_and_frees);
	tcase_add_test(tcase, stacks_and_labels);
	tcase_add_test(tcase, out_of_order);
	tcase_add_test(tcase, names_that_come_later);
	tcase_add_test(tcase, names_that_a_crew_reads);
	tcase_add_test(tcase, devices_and_processes);
	tcase_add_test(tcase, tensors_are_apart);
	tcase_add_test(tcase, tensors_without_totals);
	tcase_add_test(tcase, names);
	tcase_add_test(tcase, nonsense);
	suite_add_tcase(suite, tcase);
	return suite;
}
