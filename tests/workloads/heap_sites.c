/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 *     heap_sites WHAT TRUTH [SECONDS]
 *
 * Truth, by WHAT, with exact numbers in the file TRUTH (heap_truth.h); stacks are main, run, pace,
 * the round and the site:
 *   sites   site_six, site_three and site_one allocate 6, 3 and 1 of 10 bytes, about 10 MiB a
 *           second together. Half of their blocks are freed a few rounds later, those of site_three
 *           by another thread.
 *   leak    as sites, but all of those blocks are freed; site_leak keeps 1 MiB a second.
 *   calls   a site for each allocation function, all with the same number of bytes: by_malloc,
 *           by_calloc, by_realloc, by_reallocarray, by_memalign, by_aligned_alloc,
 *           by_posix_memalign. Each keeps a quarter of its blocks. by_realloc grows each block
 *           in four steps, and each step counts as allocated. Each round also makes calls that
 *           fail; these allocate nothing and free nothing.
 *   wave    site_wave repeatedly takes 8 MiB in half a second, holds them for a fifth of a second
 *           and frees them.
 *   tiny    site_tiny allocates and frees 16 bytes as often as it can, about 10 million times a
 *           second. Its stack is main, run, tiny, site_tiny.
 * Runs until killed or for SECONDS.
 */
#include "heap_truth.h"

#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#define SITE __attribute__((noipa))

enum {
	ROUNDS_A_SECOND = 1000, /* each of ten units */
	ROUNDS_A_ROW = 10,
	UNIT = 1024,                   /* bytes, on average */
	DELAY = 2,                     /* blocks that a site holds before it frees the oldest */
	WAVE_UP = ROUNDS_A_SECOND / 2, /* rounds */
	WAVE_LENGTH = WAVE_UP * 7 / 5,
	WAVE_BYTES = (8 << 20) / WAVE_UP, /* per round */
	LEAK_EVERY = 16,
	LEAK_BYTES = LEAK_EVERY * UNIT * 1024 / ROUNDS_A_SECOND,
};

struct block {
	void *at;
	size_t size;
};

/* Blocks to be freed, in a ring. */
struct queue {
	struct block blocks[DELAY];
	unsigned int next;
};

static struct site *const six = &sites[0], *const three = &sites[1], *const one = &sites[2],
			  *const leak = &sites[3];
static struct queue queues[MAX_SITES];
static int handed[2]; /* pipe that carries blocks to the thread that frees them */

/* From half a unit to one and a half, at random, so no fixed sampling step can align with it. */
static size_t some_size(void)
{
	static uint32_t state = 1;

	state = state * 1664525 + 1013904223;
	return UNIT / 2 + (state >> 16) % UNIT;
}

static void keep_or_die(void *at, size_t size)
{
	if (!at)
		abort();
	memset(at, 1, size < 64 ? size : 64);
}

static void free_block(struct site *site, struct block block)
{
	site_gave(site, block.size);
	free(block.at);
}

/* Queues a block and frees the one queued DELAY calls before. */
static void free_later(struct site *site, void *at, size_t size)
{
	struct queue *queue = &queues[site - sites];
	struct block *slot = &queue->blocks[queue->next++ % DELAY];

	if (slot->at)
		free_block(site, *slot);
	*slot = (struct block){at, size};
}

static void hand_over(void *at, size_t size)
{
	struct block block = {at, size};

	if (write(handed[1], &block, sizeof(block)) != sizeof(block))
		_exit(4);
}

static void *free_handed(void *unused)
{
	struct block block;

	(void)unused;
	while (read(handed[0], &block, sizeof(block)) == sizeof(block))
		free_block(three, block);
	return NULL;
}

static SITE void *site_six(size_t size)
{
	void *at = malloc(size);

	keep_or_die(at, size);
	return at;
}

static SITE void *site_three(size_t size)
{
	void *at = malloc(size);

	keep_or_die(at, size);
	return at;
}

static SITE void *site_one(size_t size)
{
	void *at = malloc(size);

	keep_or_die(at, size);
	return at;
}

static SITE void *site_leak(size_t size)
{
	void *at = malloc(size);

	keep_or_die(at, size);
	return at;
}

/* Allocates one unit at one site. freed: the block is freed later. */
static void unit(struct site *site, void *(*allocate)(size_t), bool freed)
{
	size_t size = some_size();
	void *at = allocate(size);

	site_took(site, size);
	if (!freed)
		return;
	if (site == three)
		hand_over(at, size);
	else
		free_later(site, at, size);
}

static void round_of_sites(uint64_t round, bool all_freed)
{
	for (unsigned int i = 0; i < 10; i++) {
		bool freed = all_freed || (round + i) % 2;

		if (i < 6)
			unit(six, site_six, freed);
		else if (i < 9)
			unit(three, site_three, freed);
		else
			unit(one, site_one, freed);
	}
}

static SITE void sites_round(uint64_t round)
{
	round_of_sites(round, false);
}

static SITE void leak_round(uint64_t round)
{
	round_of_sites(round, true);
	if (round % LEAK_EVERY)
		return;
	site_leak(LEAK_BYTES);
	site_took(leak, LEAK_BYTES);
}

static SITE void *by_malloc(size_t size)
{
	return malloc(size);
}

static SITE void *by_calloc(size_t size)
{
	return calloc(size / 16, 16);
}

static SITE void *by_realloc(size_t size)
{
	void *at = NULL;

	for (size_t part = 1; part <= 4; part++) {
		at = realloc(at, size * part / 4);
		keep_or_die(at, 16);
	}
	/* A failed realloc() leaves the block unchanged. */
	if (realloc(at, SIZE_MAX / 4))
		abort();
	return at;
}

static SITE void *by_reallocarray(size_t size)
{
	return reallocarray(NULL, size / 16, 16);
}

static SITE void *by_memalign(size_t size)
{
	return memalign(256, size);
}

static SITE void *by_aligned_alloc(size_t size)
{
	return aligned_alloc(64, size);
}

static SITE void *by_posix_memalign(size_t size)
{
	void *at;

	return posix_memalign(&at, 128, size) ? NULL : at;
}

static SITE void *site_wave(size_t size)
{
	void *at = malloc(size);

	keep_or_die(at, size);
	return at;
}

static SITE void wave_round(uint64_t round)
{
	static void *blocks[WAVE_UP];
	unsigned int at = (unsigned int)(round % WAVE_LENGTH);

	if (at < WAVE_UP) {
		blocks[at] = site_wave(WAVE_BYTES);
		site_took(&sites[0], WAVE_BYTES);
	}
	for (int i = 0; i < WAVE_UP && at == WAVE_LENGTH - 1; i++)
		free_block(&sites[0], (struct block){blocks[i], WAVE_BYTES});
}

static void *(*const calls[])(size_t) = {by_malloc,        by_calloc,   by_realloc,
                                         by_reallocarray,  by_memalign, by_aligned_alloc,
                                         by_posix_memalign};
enum { CALLS = sizeof(calls) / sizeof(calls[0]) };

static SITE void calls_round(uint64_t round)
{
	static volatile size_t huge = SIZE_MAX / 4;

	for (int i = 0; i < CALLS; i++) {
		size_t size = some_size() & ~(size_t)255;
		void *at = calls[i](size);

		keep_or_die(at, size);
		site_took(&sites[i], size);
		if (calls[i] == by_realloc) /* plus the steps of 1/4, 1/2 and 3/4 */
			atomic_fetch_add(&sites[i].allocated, (long long)(size / 4 * 6));
		if ((round + (uint64_t)i) % 4)
			free_later(&sites[i], at, size);
	}
	free(NULL);
	if (malloc(huge) || calloc(huge, 16))
		abort();
}

/* Runs rounds at a steady pace. Rounds missed by a delay are not made up for. */
static SITE void pace(void (*one_round)(uint64_t round), double stop)
{
	const struct timespec step = {.tv_nsec = 1000000000 / ROUNDS_A_SECOND};

	for (uint64_t round = 0; seconds_now(CLOCK_MONOTONIC) < stop; round++) {
		one_round(round);
		if (round % ROUNDS_A_ROW == 0)
			truth_row();
		nanosleep(&step, NULL);
	}
}

static SITE void site_tiny(void)
{
	void *volatile at = malloc(16);

	free(at);
}

static SITE void tiny(double stop)
{
	while (seconds_now(CLOCK_MONOTONIC) < stop)
		for (int i = 0; i < 10000; i++)
			site_tiny();
}

static const struct {
	const char *name;
	void (*round)(uint64_t round);
	const char *sites[MAX_SITES];
} programs[] = {
	{"sites", sites_round, {"site_six", "site_three", "site_one"}},
	{"leak", leak_round, {"site_six", "site_three", "site_one", "site_leak"}},
	{"calls",
         calls_round,
         {"by_malloc", "by_calloc", "by_realloc", "by_reallocarray", "by_memalign",
          "by_aligned_alloc", "by_posix_memalign"}},
	{"wave", wave_round, {"site_wave"}},
	{"tiny", NULL, {"site_tiny"}},
};

static int run(const char *name, const char *truth, double stop)
{
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		if (strcmp(programs[i].name, name) != 0)
			continue;
		for (int j = 0; j < MAX_SITES; j++)
			sites[j].name = programs[i].sites[j];
		truth_open(truth);
		say_ready();
		if (programs[i].round)
			pace(programs[i].round, stop);
		else
			tiny(stop);
		return 0;
	}
	return 2;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc < 3 || pipe(handed) || pthread_create(&thread, NULL, free_handed, NULL))
		return 2;
	return run(argv[1], argv[2], deadline(argc, argv, 3));
}
