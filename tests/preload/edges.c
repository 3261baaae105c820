/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* No listener, a late listener, or one that has stopped; no room; and the results of failing
 * calls. */
#include "tests/preload/suites.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

#include "preload/counters.h"
#include "tests/preload/listener.h"

void free_sized(void *block, size_t size) __attribute__((weak));
void free_aligned_sized(void *block, size_t alignment, size_t size) __attribute__((weak));

/* Always sampled: at 1 KiB the probability that it is not is exp(-4096). */
enum { BIG = 4 << 20 };

static struct heap_counters *counters(void)
{
	struct heap_counters *found = dlsym(RTLD_DEFAULT, "profd_heap_counters");

	must(found != NULL);
	return found;
}

START_TEST(unheard)
{
	struct heap_counters *counted = counters();
	uint64_t allocs = counted->allocs;

	for (int i = 0; i < 100; i++)
		free(malloc(BIG));
	must(counted->allocs == allocs);
	must(counted->frees == 0);
	must(counted->taken_back == 0);
	must((double)counted->rate == rate());
}
END_TEST

START_TEST(allocated_before_anybody_listened)
{
	void *block = malloc(BIG);

	listen_from_now();
	free(block);
	must(heard.frees == 0);
}
END_TEST

START_TEST(freed_when_nobody_listened)
{
	void *block, *again;

	listen_from_now();
	block = malloc(BIG);
	must(heard_live(block));
	listen_no_more();
	free(block);
	must(heard.frees == 0);
	must(counters()->taken_back == 1);
	/* The block is forgotten: the next block at its address is not taken for it. */
	listen_from_now();
	again = malloc(BIG);
	must(heard.allocs == 1);
	free(again);
	must(heard.frees == 1);
}
END_TEST

START_TEST(counters_say_what_was_heard)
{
	struct heap_counters *counted = counters();

	listen_from_now();
	for (int i = 0; i < 100000; i++) {
		void *volatile block = malloc(500);

		free(block);
	}
	listen_no_more();
	must(counted->allocs == heard.allocs);
	must(counted->weight == heard.weight);
	must(counted->frees == heard.frees);
	must(counted->no_room == 0);
}
END_TEST

/* More blocks than the library has room for: neither the alloc nor the free of a block without room
 * is reported. */
START_TEST(more_than_there_is_room_for)
{
	enum { BLOCKS = 500000, SIZE = 1000 };
	static void *blocks[BLOCKS];
	struct heap_counters *counted = counters();
	uint64_t told;

	listen_from_now();
	for (int i = 0; i < BLOCKS && counted->no_room < 100; i++)
		blocks[i] = malloc(SIZE);
	told = heard.allocs;
	must(counted->no_room >= 100);
	for (int i = 0; i < BLOCKS; i++)
		free(blocks[i]);
	listen_no_more();
	must(heard.frees >= told);
	must(heard.frees == heard.allocs);
	must(heard.twice + heard.unpaired == 0);
	must(heard.live == 0);
}
END_TEST

START_TEST(calls_that_fail)
{
	volatile size_t too_much = PTRDIFF_MAX - 8192;
	char untouched;
	void *block = &untouched;

	listen_from_now();
	errno = 0;
	must(malloc(too_much) == NULL);
	must(errno == ENOMEM);
	errno = 0;
	must(calloc(too_much, 16) == NULL); /* tcmalloc sets no errno for this */
	errno = 0;
	must(reallocarray(NULL, too_much, 16) == NULL);
	must(errno == ENOMEM);
	errno = 0;
	must(pvalloc(SIZE_MAX - too_much % 2) == NULL);
	must(errno == ENOMEM);
	must(posix_memalign(&block, 3, 8) == EINVAL);
	must(posix_memalign(&block, 64, too_much) == ENOMEM);
	must(block == &untouched);
	must(heard.allocs == 0);
}
END_TEST

START_TEST(errno_stays)
{
	void *block;

	listen_from_now();
	errno = EBADF;
	block = malloc(BIG);
	must(heard_live(block));
	must(errno == EBADF);
	free(block);
	must(errno == EBADF);
	must(heard.frees == 1);
}
END_TEST

START_TEST(nothing_is_freed)
{
	listen_from_now();
	for (int i = 0; i < 1000; i++) {
		free(NULL);
		free(malloc(0));
	}
	must(heard.allocs + heard.frees == 0);
}
END_TEST

START_TEST(freed_with_its_size)
{
	must(free_sized && free_aligned_sized);
	listen_from_now();
	free_sized(malloc(BIG), BIG);
	free_aligned_sized(aligned_alloc(64, BIG), 64, BIG);
	must(heard.allocs == 2);
	must(heard.frees == 2);
}
END_TEST

START_TEST(aligned_as_asked)
{
	listen_from_now();
	for (size_t alignment = 16; alignment <= 65536; alignment *= 2) {
		void *block = memalign(alignment, 5000), *other;

		must((uintptr_t)block % alignment == 0);
		must(posix_memalign(&other, alignment, 5000) == 0);
		must((uintptr_t)other % alignment == 0);
		free(block);
		free(other);
	}
	must(heard.allocs > 0);
	must(heard.live == 0);
}
END_TEST

Suite *edges_suite(void)
{
	Suite *suite = suite_create("edges");
	TCase *edges = tcase_create("edges");

	tcase_add_test(edges, unheard);
	tcase_add_test(edges, allocated_before_anybody_listened);
	tcase_add_test(edges, freed_when_nobody_listened);
	tcase_add_test(edges, counters_say_what_was_heard);
	tcase_add_test(edges, more_than_there_is_room_for);
	tcase_add_test(edges, calls_that_fail);
	tcase_add_test(edges, errno_stays);
	tcase_add_test(edges, nothing_is_freed);
	tcase_add_test(edges, freed_with_its_size);
	tcase_add_test(edges, aligned_as_asked);
	suite_add_tcase(suite, edges);
	return suite;
}
