/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: allocates chunks from XLA's allocators, as JAX does. Reports, for each allocating function
 * and device ("cuda:0", "cuda:1" or "cpu"), the chunks and bytes allocated so far and held now; the
 * number of failures, and of those with retry. Commands (told.h):
 *   train     weights, activations and gradients allocate 6, 3 and 1 of 10 bytes on two devices, by
 *             both allocating functions, and free a half, gradients from another thread; staging
 *             allocates host memory, and pooled uses the allocator over cudaMallocAsync()
 *   churn     two threads allocate and free, each reusing chunks that the other has just freed
 *   again     takes_of uses two allocators of two devices, created one after the other in one place
 *   tries     wants_maybe asks for more than there is, without retry on failure
 *   oom       wants_too_much does the same with the default attributes
 *   empty     frees everything
 */
#include "cuda.h"
#include "told.h"
#include "xla.hh"

#include <map>
#include <string>
#include <thread>
#include <vector>

enum { CUDA_0, CUDA_1, HOST, POOLED, SHORT_LIVED, ALLOCATORS };
enum { ALIGNMENT = 64, STEPS = 20, CHURNED = 500 };

static const size_t limit = 1 << 30;
static const char *places[ALLOCATORS] = {"cuda:0", "cuda:1", "cpu", "cuda:1"};
static tsl::Allocator *allocators[ALLOCATORS];

struct Chunk {
	void *at;
	size_t size;
	int place;
	const char *site;
};

struct Count {
	size_t allocated, allocated_bytes, held, held_bytes;
};

static std::map<std::string, Count> counts;
static std::vector<Chunk> chunks;
static size_t failures, oom_count;

static Count &count_of(const Chunk &chunk)
{
	return counts[std::string(chunk.site) + " " + places[chunk.place]];
}

static SITE void *raw_alloc(size_t size, int place)
{
	const tsl::AllocationAttributes attributes;

	if (size % 2)
		return allocators[place]->AllocateRaw(ALIGNMENT, size);
	return allocators[place]->AllocateRaw(ALIGNMENT, size, attributes);
}

static void take(const char *site, size_t size, int place)
{
	breathe();
	const Chunk chunk = {raw_alloc(size, place), size, place, site};
	Count &count = count_of(chunk);

	must(!chunk.at);
	chunks.push_back(chunk);
	count.allocated++;
	count.allocated_bytes += size;
	count.held++;
	count.held_bytes += size;
}

static void give(const Chunk &chunk)
{
	Count &count = count_of(chunk);

	count.held--;
	count.held_bytes -= chunk.size;
	allocators[chunk.place]->DeallocateRaw(chunk.at);
}

extern "C" SITE void weights(size_t size, int place)
{
	take("weights", 6 * size, place);
}

extern "C" SITE void activations(size_t size, int place)
{
	take("activations", 3 * size, place);
}

extern "C" SITE void gradients(size_t size, int place)
{
	take("gradients", 1 * size, place);
}

extern "C" SITE void staging(size_t size)
{
	take("staging", size, HOST);
}

extern "C" SITE void pooled(size_t size)
{
	take("pooled", size, POOLED);
}

static void give_half(const char *site)
{
	std::vector<Chunk> kept;
	size_t nth[ALLOCATORS] = {0};

	for (const Chunk &chunk : chunks) {
		if (chunk.site == std::string(site) && nth[chunk.place]++ % 2)
			give(chunk);
		else
			kept.push_back(chunk);
	}
	chunks = kept;
}

static SITE void train(void)
{
	for (size_t step = 1; step <= STEPS; step++) {
		staging(step * 1000 + 1);
		pooled(step * 500);
		for (int place = CUDA_0; place <= CUDA_1; place++) {
			weights(step * 511, place);
			activations(step * 511, place);
			gradients(step * 511, place);
		}
	}
	/* 0 bytes give no chunk, and freeing a null pointer has no effect. */
	raw_alloc(0, CUDA_0);
	allocators[CUDA_0]->DeallocateRaw(nullptr);
	give_half("weights");
	give_half("activations");
	give_half("staging");
	give_half("pooled");
	std::thread([] { give_half("gradients"); }).join();
}

/* The same addresses are freed and allocated by turns. An allocation is never reported before the
 * free that made room for it. */
extern "C" SITE void churns(size_t size)
{
	for (size_t i = 0; i < CHURNED; i++)
		allocators[CUDA_0]->DeallocateRaw(raw_alloc(size, CUDA_0));
}

/* Allocates chunks that churns() has freed. */
extern "C" SITE void takes_again(size_t size)
{
	take("takes_again", size, CUDA_0);
	take("takes_again", size, CUDA_0);
}

static void churn(void)
{
	std::thread one([] { churns(4096); }), other([] { churns(4096); });

	one.join();
	other.join();
	takes_again(4096);
}

extern "C" SITE void takes_of(int place)
{
	take("takes_of", 12345, place);
}

/* Replaces an allocator by one of another device at the same address. */
static void again(void)
{
	static const char *const names[] = {"GPU_0_bfc", "GPU_1_bfc"};

	for (int place = CUDA_0; place <= CUDA_1; place++) {
		fakexla_allocator_again(allocators[SHORT_LIVED], names[place], place, limit);
		places[SHORT_LIVED] = places[place];
		takes_of(SHORT_LIVED);
		give(chunks.back());
		chunks.pop_back();
	}
}

extern "C" SITE void wants_maybe(void)
{
	tsl::AllocationAttributes attributes;

	attributes.retry_on_failure = false;
	if (allocators[CUDA_0]->AllocateRaw(ALIGNMENT, 1ULL << 40, attributes))
		must(-1);
	failures++;
}

extern "C" SITE void wants_too_much(void)
{
	if (allocators[CUDA_0]->AllocateRaw(ALIGNMENT, 1ULL << 40))
		must(-1);
	failures++;
	oom_count++;
}

static void empty(void)
{
	for (const Chunk &chunk : chunks)
		give(chunk);
	chunks.clear();
}

static void say(void)
{
	const char *separator = "";

	printf("{\"sites\": {");
	for (const auto &row : counts) {
		const Count &c = row.second;

		printf("%s\"%s\": [%zu, %zu, %zu, %zu]", separator, row.first.c_str(), c.allocated,
		       c.allocated_bytes, c.held, c.held_bytes);
		separator = ", ";
	}
	printf("}, \"churned\": %d, \"failures\": %zu, \"oom\": %zu}\n", 2 * CHURNED, failures,
	       oom_count);
}

int main()
{
	static const struct command commands[] = {{"train", train},        {"churn", churn},
	                                          {"again", again},        {"tries", wants_maybe},
	                                          {"oom", wants_too_much}, {"empty", empty}};
	allocators[CUDA_0] = fakexla_allocator("GPU_0_bfc", 0, limit);
	allocators[CUDA_1] = fakexla_allocator("GPU_collectivememory_1_bfc", 1, limit);
	allocators[HOST] = fakexla_allocator("xla_gpu_host_bfc", -1, limit);
	allocators[POOLED] = fakexla_allocator("gpu_async_1", 1, limit);
	allocators[SHORT_LIVED] = fakexla_allocator("GPU_7_bfc", 0, limit);
	return be_told(commands, sizeof(commands) / sizeof(commands[0]), say);
}
