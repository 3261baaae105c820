/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * GPU memory that goes with its context, without a free of its own.
 */
#include "base/accounts.h"
#include "tests/unit/gpu_feeds_fixture.h"

#include <stdbool.h>
#include <unistd.h>

enum {
	A = 0xa000, /* contexts */
	B = 0xb000,
	PRIMARY = 0xc000, /* of device 0 */
	ROOT = 0,         /* root's place among the accounts that lose events */
};

static void end(enum gpu_end what, uint64_t context, uint8_t device)
{
	event.memory = what;
	event.device = device;
	tell(GPU_EVENT_ENDED, context, 0, 0);
	event.device = 0;
}

static void retain(uint64_t context, uint8_t device)
{
	event.device = device;
	tell(GPU_EVENT_CONTEXT, context, 1, 0);
	event.device = 0;
}

START_TEST(with_its_context)
{
	allocate(A, GPU_MEMORY_DEVICE, 0x100, 1);
	event.device = 1;
	allocate(B, GPU_MEMORY_DEVICE, 0x200, 20);
	event.device = GPU_DEVICE_HOST;
	allocate(A, GPU_MEMORY_PINNED, 0x300, 300);
	allocate(A, GPU_MEMORY_REGISTERED, 0x400, 4000);
	event.device = 0;
	allocate(A, GPU_MEMORY_MANAGED, 0x500, 50000);
	allocate(A, GPU_MEMORY_ARRAY, 0x600, 600000);
	/* The first two belong to no context, and the context of the last is not known. */
	allocate(A, GPU_MEMORY_POOL, 0x700, 7000000);
	allocate(A, GPU_MEMORY_PHYSICAL, 0x800, 80000000);
	allocate(0, GPU_MEMORY_DEVICE, 0x900, 900000000);
	end(GPU_END_CONTEXT, A, GPU_DEVICE_UNKNOWN);
	ck_assert_uint_eq(held(), 987000020);
	end(GPU_END_CONTEXT, 0, GPU_DEVICE_UNKNOWN);
	ck_assert_uint_eq(held(), 987000020);
	end(GPU_END_CONTEXT, B, GPU_DEVICE_UNKNOWN);
	ck_assert_uint_eq(held(), 987000000);
	/* The end of a context does not count as a free. */
	ck_assert_uint_eq(freed(), 0);
	/* An address and a context that are used again. */
	allocate(A, GPU_MEMORY_DEVICE, 0x100, 3);
	ck_assert_uint_eq(held(), 987000003);
	end(GPU_END_CONTEXT, A, GPU_DEVICE_UNKNOWN);
	ck_assert_uint_eq(held(), 987000000);
	ck_assert_uint_eq(stats().unmatched, 0);
}
END_TEST

/* An allocation that was made after the call began is kept, even if it is reported before the
 * call's end. */
START_TEST(while_it_ends)
{
	allocate(A, GPU_MEMORY_DEVICE, 0x100, 1);
	event.time_ns += 10;
	allocate(A, GPU_MEMORY_DEVICE, 0x200, 20);
	event.time_ns -= 5;
	end(GPU_END_CONTEXT, A, GPU_DEVICE_UNKNOWN);
	ck_assert_uint_eq(held(), 20);
}
END_TEST

START_TEST(of_tensors)
{
	event.layer = GPU_LAYER_TENSOR;
	allocate(A, GPU_MEMORY_TENSOR, 0x100, 512);
	event.layer = GPU_LAYER_DRIVER;
	end(GPU_END_CONTEXT, A, GPU_DEVICE_UNKNOWN);
	ck_assert_uint_eq(
		gpu_feed_bytes(gpu_feeds_get(feeds, PID, IMAGE, event.time_ns), GPU_LAYER_TENSOR),
		512);
}
END_TEST

START_TEST(primary_is_reset)
{
	retain(PRIMARY, 0);
	retain(B, 1);
	allocate(PRIMARY, GPU_MEMORY_DEVICE, 0x100, 1);
	allocate(B, GPU_MEMORY_DEVICE, 0x200, 20);
	end(GPU_END_PRIMARY, 0, 0);
	ck_assert_uint_eq(held(), 20);
	/* The context goes on under the same handle. */
	allocate(PRIMARY, GPU_MEMORY_DEVICE, 0x100, 300);
	ck_assert_uint_eq(held(), 320);
	end(GPU_END_PRIMARY, 0, 0);
	end(GPU_END_PRIMARY, 0, 2);
	end(GPU_END_PRIMARY, 0, GPU_DEVICE_UNKNOWN);
	ck_assert_uint_eq(held(), 20);
	ck_assert_uint_eq(stats().contexts_full, 1);
}
END_TEST

START_TEST(primary_is_released)
{
	retain(PRIMARY, 0);
	retain(PRIMARY, 0);
	allocate(PRIMARY, GPU_MEMORY_DEVICE, 0x100, 1);
	end(GPU_END_REFERENCE, 0, 0);
	ck_assert_uint_eq(held(), 1);
	/* A reset does not release a reference. */
	end(GPU_END_PRIMARY, 0, 0);
	ck_assert_uint_eq(held(), 0);
	allocate(PRIMARY, GPU_MEMORY_DEVICE, 0x100, 20);
	end(GPU_END_REFERENCE, 0, 1);
	ck_assert_uint_eq(held(), 20);
	end(GPU_END_REFERENCE, 0, 0);
	ck_assert_uint_eq(held(), 0);
	/* One release too many. */
	allocate(PRIMARY, GPU_MEMORY_DEVICE, 0x100, 300);
	end(GPU_END_REFERENCE, 0, 0);
	ck_assert_uint_eq(held(), 300);
	/* Then the context is retained for the first time again. */
	retain(PRIMARY, 0);
	end(GPU_END_REFERENCE, 0, 0);
	ck_assert_uint_eq(held(), 0);
}
END_TEST

/* A process that ran before the driver was probed may have references that were not seen. */
START_TEST(seen_late)
{
	gpu_feeds_attached(feeds, STARTED_NS);
	retain(PRIMARY, 0);
	allocate(PRIMARY, GPU_MEMORY_DEVICE, 0x100, 1);
	end(GPU_END_REFERENCE, 0, 0);
	ck_assert_uint_eq(held(), 1);
	end(GPU_END_PRIMARY, 0, 0);
	ck_assert_uint_eq(held(), 0);
}
END_TEST

/* While events were lost, references may have been made that were not seen. */
START_TEST(seen_in_part)
{
	retain(PRIMARY, 0);
	allocate(PRIMARY, GPU_MEMORY_DEVICE, 0x100, 1);
	gpu_feeds_lost(feeds, ROOT, event.time_ns);
	end(GPU_END_REFERENCE, 0, 0);
	ck_assert_uint_eq(held(), 1);
	end(GPU_END_PRIMARY, 0, 0);
	ck_assert_uint_eq(held(), 0);
}
END_TEST

/* The same holds for a program whose first event comes after the loss. */
START_TEST(not_seen_at_first)
{
	gpu_feeds_lost(feeds, ROOT, event.time_ns);
	retain(PRIMARY, 0);
	allocate(PRIMARY, GPU_MEMORY_DEVICE, 0x100, 1);
	end(GPU_END_REFERENCE, 0, 0);
	ck_assert_uint_eq(held(), 1);
}
END_TEST

/* Events of the process's own account are lost, or of another one; before the program's first
 * event, or after it. */
static const struct loss {
	bool own, first;
} losses[] = {{false, false}, {false, true}, {true, false}, {true, true}};

/* The process must exist, so that its user is known. */
START_TEST(seen_in_part_by_user)
{
	uint32_t place = account_place(&hash_key, account_of(getuid()));
	const struct loss *loss = &losses[_i];

	place = loss->own ? place : place + 1;
	event.pid = event.tid = (uint32_t)getpid();
	procs_exec(tables.procs, event.pid, "train", STARTED_NS);
	if (loss->first)
		gpu_feeds_lost(feeds, place, event.time_ns);
	retain(PRIMARY, 0);
	allocate(PRIMARY, GPU_MEMORY_DEVICE, 0x100, 1);
	if (!loss->first)
		gpu_feeds_lost(feeds, place, event.time_ns);
	end(GPU_END_REFERENCE, 0, 0);
	ck_assert_uint_eq(held(), loss->own);
}
END_TEST

START_TEST(nonsense)
{
	allocate(0, GPU_MEMORY_DEVICE, 0x100, 1);
	end(77, 0x100, 0);
	ck_assert_uint_eq(held(), 1);
}
END_TEST

Suite *gpu_ends_suite(void)
{
	Suite *suite = suite_create("gpu_ends");
	TCase *tcase = tcase_create("gpu_ends");

	tcase_add_checked_fixture(tcase, gpu_feeds_set_up, gpu_feeds_tear_down);
	tcase_add_test(tcase, with_its_context);
	tcase_add_test(tcase, while_it_ends);
	tcase_add_test(tcase, of_tensors);
	tcase_add_test(tcase, primary_is_reset);
	tcase_add_test(tcase, primary_is_released);
	tcase_add_test(tcase, seen_late);
	tcase_add_test(tcase, seen_in_part);
	tcase_add_test(tcase, not_seen_at_first);
	tcase_add_loop_test(tcase, seen_in_part_by_user, 0, sizeof(losses) / sizeof(losses[0]));
	tcase_add_test(tcase, nonsense);
	suite_add_tcase(suite, tcase);
	return suite;
}
