/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth: like PyTorch's caching allocator, allocates segments of 20 MiB by cudaMalloc, hands out
 * tensors of them and reports each tensor. Prints, for each allocating function and device
 * ("cuda:0", "cuda:1" or "cpu"), the tensors and bytes allocated so far and held now; the bytes in
 * segments, and the part of them in tensors. Commands (told.h):
 *   train     linear_forward, relu_forward and loss_backward allocate 6, 3 and 1 of 10 bytes, on
 *             both devices, and free a half, those of loss_backward from another thread; batch
 *             allocates tensors in host memory
 *   oom       wants_too_much asks for more than there is
 *   empty     frees everything including the segments
 */
#include "c10.hh"
#include "cuda.h"
#include "told.h"

#include <map>
#include <string>
#include <thread>
#include <vector>

enum { MIB = 1 << 20, SEGMENT = 20 * MIB, DEVICES = 2, CPU = DEVICES };

struct Tensor {
	void *at;
	size_t size;
	int place;
	const char *site;
};

struct Count {
	size_t allocated, allocated_bytes, held, held_bytes;
};

static std::map<std::string, Count> counts;
static std::vector<Tensor> tensors;
static std::vector<void *> segments[DEVICES];
static size_t room[DEVICES], in_tensors[DEVICES], in_segments[DEVICES], oom_count;
static c10::ProfiledCPUMemoryReporter cpu_reporter;

static std::string key(const char *site, int place)
{
	return std::string(site) + (place == CPU ? " cpu" : place ? " cuda:1" : " cuda:0");
}

static c10::Device device_of(int place)
{
	return c10::Device{1, (int8_t)place};
}

static SITE void *take_of_segment(size_t size, int place)
{
	if (room[place] < size) {
		void *segment;

		must(cudaSetDevice(place));
		must(cudaMalloc(&segment, SEGMENT));
		segments[place].push_back(segment);
		in_segments[place] += SEGMENT;
		room[place] = SEGMENT;
	}
	room[place] -= size;
	in_tensors[place] += size;
	return (char *)segments[place].back() + room[place];
}

static SITE void *raw_alloc(size_t size, int place)
{
	void *at = place == CPU ? c10::alloc_cpu(size) : take_of_segment(size, place);

	if (place == CPU)
		cpu_reporter.New(at, size);
	else
		c10::reportMemoryUsageToProfiler(at, (int64_t)size, in_tensors[place],
		                                 in_segments[place], device_of(place));
	return at;
}

static void take(const char *site, size_t size, int place)
{
	Count &count = counts[key(site, place)];

	breathe();
	tensors.push_back(Tensor{raw_alloc(size, place), size, place, site});
	count.allocated++;
	count.allocated_bytes += size;
	count.held++;
	count.held_bytes += size;
}

static void give(const Tensor &tensor)
{
	Count &count = counts[key(tensor.site, tensor.place)];

	count.held--;
	count.held_bytes -= tensor.size;
	if (tensor.place == CPU) {
		cpu_reporter.Delete(tensor.at);
		c10::free_cpu(tensor.at);
		return;
	}
	in_tensors[tensor.place] -= tensor.size;
	c10::reportMemoryUsageToProfiler(tensor.at, -(int64_t)tensor.size, in_tensors[tensor.place],
	                                 in_segments[tensor.place], device_of(tensor.place));
}

extern "C" SITE void linear_forward(size_t size, int place)
{
	take("linear_forward", 6 * size, place);
}

extern "C" SITE void relu_forward(size_t size, int place)
{
	take("relu_forward", 3 * size, place);
}

extern "C" SITE void loss_backward(size_t size, int place)
{
	take("loss_backward", 1 * size, place);
}

extern "C" SITE void batch(size_t size)
{
	take("batch", size, CPU);
}

static void give_half(const char *site)
{
	std::vector<Tensor> kept;
	size_t nth[DEVICES + 1] = {0};

	for (const Tensor &tensor : tensors) {
		if (tensor.site == std::string(site) && nth[tensor.place]++ % 2)
			give(tensor);
		else
			kept.push_back(tensor);
	}
	tensors = kept;
}

static SITE void train(void)
{
	for (size_t step = 1; step <= 20; step++) {
		batch(step * 1000);
		for (int place = 0; place < DEVICES; place++) {
			linear_forward(step * 512, place);
			relu_forward(step * 512, place);
			loss_backward(step * 512, place);
		}
	}
	give_half("linear_forward");
	give_half("relu_forward");
	give_half("batch");
	std::thread([] { give_half("loss_backward"); }).join();
}

extern "C" SITE void wants_too_much(void)
{
	void *at;

	must(cudaSetDevice(0));
	if (cudaMalloc(&at, 1ULL << 40) != CUDA_ERROR_OUT_OF_MEMORY)
		must(-1);
	c10::reportOutOfMemoryToProfiler(1LL << 40, in_tensors[0], in_segments[0], device_of(0));
	oom_count++;
}

static void empty(void)
{
	for (const Tensor &tensor : tensors)
		give(tensor);
	tensors.clear();
	for (int place = 0; place < DEVICES; place++) {
		for (void *segment : segments[place])
			must(cudaFree(segment));
		segments[place].clear();
		in_segments[place] = room[place] = 0;
	}
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
	printf("}, \"allocated\": [%zu, %zu], \"reserved\": [%zu, %zu], \"oom\": %zu}\n",
	       in_tensors[0], in_tensors[1], in_segments[0], in_segments[1], oom_count);
}

int main()
{
	static const struct command commands[] = {
		{"train", train}, {"oom", wants_too_much}, {"empty", empty}};

	return be_told(commands, sizeof(commands) / sizeof(commands[0]), say);
}
