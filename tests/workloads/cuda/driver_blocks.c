/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The memory of the stand-in's devices, and the host memory that it allocated.
 */
#include "driver.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { BUCKETS = 1 << 16, GRAIN = 512 };

struct block {
	struct block *next;
	uint64_t at, size;
	enum family family;
	CUcontext context;
	int device;
	bool mapped; /* host memory mapped by this library */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *live[BUCKETS]; /* by address */
static struct block *gone[BUCKETS]; /* by size, the last one freed first */
static uint64_t used[DEVICES], next_address[DEVICES];

static struct block **by_address(uint64_t at)
{
	return &live[(at / GRAIN ^ at >> 40) % BUCKETS];
}

static struct block **by_size(uint64_t size)
{
	return &gone[size % BUCKETS];
}

uint64_t blocks_size(void)
{
	static uint64_t size;
	const char *told = getenv("FAKECUDA_MEMORY");

	if (!size)
		size = told ? strtoull(told, NULL, 0) : 16ULL << 30;
	return size;
}

uint64_t blocks_used(int device)
{
	uint64_t found;

	pthread_mutex_lock(&lock);
	found = used[device];
	pthread_mutex_unlock(&lock);
	return found;
}

static bool is_host(enum family family)
{
	return family == FAMILY_HOST || family == FAMILY_REGISTERED;
}

static struct block *unlink_one(struct block **from,
                                bool (*is)(const struct block *block, const struct block *like),
                                const struct block *like)
{
	for (; *from; from = &(*from)->next) {
		struct block *found = *from;

		if (!is(found, like))
			continue;
		*from = found->next;
		return found;
	}
	return NULL;
}

static bool same_size(const struct block *block, const struct block *like)
{
	return block->size == like->size && block->device == like->device && !block->mapped;
}

static bool same_address(const struct block *block, const struct block *like)
{
	return block->at == like->at && block->family == like->family;
}

static void link_live(struct block *block)
{
	struct block **bucket = by_address(block->at);

	block->next = *bucket;
	*bucket = block;
}

static uint64_t fresh_address(int device, uint64_t size)
{
	uint64_t at = next_address[device];

	if (!at)
		at = 0x7a0000000000 + ((uint64_t)device << 40);
	next_address[device] = at + (size + GRAIN - 1) / GRAIN * GRAIN;
	return at;
}

static uint64_t take_of_device(enum family family, CUcontext context, int device, uint64_t size)
{
	const struct block like = {.size = size, .device = device};
	struct block *block;

	if (used[device] + size > blocks_size())
		return 0;
	block = unlink_one(by_size(size), same_size, &like);
	if (!block) {
		block = calloc(1, sizeof(*block));
		*block = (struct block){
			.at = fresh_address(device, size), .size = size, .device = device};
	}
	block->family = family;
	block->context = context;
	used[device] += size;
	link_live(block);
	return block->at;
}

static uint64_t take_of_host(enum family family, CUcontext context, uint64_t size)
{
	struct block *block = calloc(1, sizeof(*block));
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
	                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		return 0;
	*block = (struct block){.at = (uintptr_t)at,
	                        .size = size,
	                        .family = family,
	                        .context = context,
	                        .mapped = true};
	link_live(block);
	return block->at;
}

uint64_t blocks_take(enum family family, CUcontext context, int device, uint64_t size)
{
	uint64_t at;

	pthread_mutex_lock(&lock);
	at = is_host(family) ? take_of_host(family, context, size)
	                     : take_of_device(family, context, device, size);
	pthread_mutex_unlock(&lock);
	return at;
}

bool blocks_register(enum family family, CUcontext context, uint64_t at, uint64_t size)
{
	struct block *block = calloc(1, sizeof(*block));

	*block = (struct block){.at = at, .size = size, .family = family, .context = context};
	pthread_mutex_lock(&lock);
	link_live(block);
	pthread_mutex_unlock(&lock);
	return true;
}

static void give_back(struct block *block)
{
	if (is_host(block->family)) {
		if (block->mapped)
			munmap((void *)(uintptr_t)block->at, block->size);
		free(block);
		return;
	}
	used[block->device] -= block->size;
	block->next = *by_size(block->size);
	*by_size(block->size) = block;
}

bool blocks_give(enum family family, uint64_t at)
{
	const struct block like = {.at = at, .family = family};
	struct block *block;

	pthread_mutex_lock(&lock);
	block = unlink_one(by_address(at), same_address, &like);
	if (block)
		give_back(block);
	pthread_mutex_unlock(&lock);
	return block;
}

static bool same_context(const struct block *block, const struct block *like)
{
	return block->context == like->context;
}

void blocks_end(CUcontext context)
{
	const struct block like = {.context = context};
	struct block *block;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; context && i < BUCKETS; i++)
		while ((block = unlink_one(&live[i], same_context, &like)))
			give_back(block);
	pthread_mutex_unlock(&lock);
}
