/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The stand-in for jaxlib's xla_cuda_plugin.so: allocators that hand out chunks of regions, which
 * they allocate by the runtime. As in the real one, their functions are local symbols that begin
 * with a push of the frame pointer, and the name is far inside the object.
 */
#include "xla.hh"

#include "cuda.h"

#include <map>
#include <mutex>
#include <new>
#include <vector>

static const size_t region_bytes = 32 << 20, chunk_step = 256;

namespace tsl
{

/* Freed chunks of a size are reused, the last one first. */
class BFCAllocator : public Allocator
{
	std::mutex mutex_;
	size_t limit_, given_ = 0, room_ = 0;
	int device_;
	std::vector<char *> regions_;
	std::map<size_t, std::vector<void *>> free_;
	std::map<void *, size_t> sizes_;
	size_t no_string_[100] = {1, 9, ~0UL, 16, 0, 9}; /* resembles a std::string but is none */
	std::string name_;

	void Extend(size_t size);
	void *AllocateRawInternal(size_t size);

      public:
	BFCAllocator(const char *name, int device, size_t limit)
	    : limit_(limit), device_(device), name_(name)
	{
	}
	~BFCAllocator() override;
	std::string Name() override;
	void *AllocateRaw(size_t alignment, size_t size) override;
	void *AllocateRaw(size_t alignment, size_t size,
	                  const AllocationAttributes &attributes) override;
	void DeallocateRaw(void *at) override;
};

BFCAllocator::~BFCAllocator()
{
	for (void *region : regions_)
		device_ < 0 ? cudaFreeHost(region) : cudaFree(region);
}

std::string BFCAllocator::Name()
{
	return name_;
}

void *BFCAllocator::AllocateRaw(size_t alignment, size_t size)
{
	AllocationAttributes attributes;

	return AllocateRaw(alignment, size, attributes);
}

void BFCAllocator::Extend(size_t size)
{
	void *region = nullptr;

	if (device_ < 0) {
		cudaMallocHost(&region, size);
	} else {
		cudaSetDevice(device_);
		cudaMalloc(&region, size);
	}
	room_ = region ? size : 0;
	if (region)
		regions_.push_back((char *)region);
}

void *BFCAllocator::AllocateRawInternal(size_t size)
{
	std::lock_guard<std::mutex> lock(mutex_);
	size_t rounded = (size + chunk_step - 1) / chunk_step * chunk_step;
	std::vector<void *> &spare = free_[rounded];
	void *at;

	if (given_ + rounded > limit_)
		return nullptr;
	if (!spare.empty()) {
		at = spare.back();
		spare.pop_back();
	} else {
		if (room_ < rounded)
			Extend(rounded > region_bytes ? rounded : region_bytes);
		if (room_ < rounded)
			return nullptr;
		room_ -= rounded;
		at = regions_.back() + room_;
	}
	sizes_[at] = rounded;
	given_ += rounded;
	return at;
}

void *BFCAllocator::AllocateRaw(size_t, size_t size, const AllocationAttributes &attributes)
{
	void *at = size ? AllocateRawInternal(size) : nullptr;

	if (!at && size && attributes.retry_on_failure)
		at = AllocateRawInternal(size);
	return at;
}

void BFCAllocator::DeallocateRaw(void *at)
{
	std::lock_guard<std::mutex> lock(mutex_);

	if (!at)
		return;
	given_ -= sizes_[at];
	free_[sizes_[at]].push_back(at);
	sizes_.erase(at);
}

} /* namespace tsl */

namespace stream_executor
{

/* Here the function with attributes calls the one without them; in BFCAllocator it is reverse. */
class GpuCudaMallocAsyncAllocator : public tsl::Allocator
{
	size_t limit_;
	int device_;
	std::string name_;

      public:
	GpuCudaMallocAsyncAllocator(const char *name, int device, size_t limit)
	    : limit_(limit), device_(device), name_(name)
	{
	}
	std::string Name() override
	{
		return name_;
	}
	void *AllocateRaw(size_t alignment, size_t size) override;
	void *AllocateRaw(size_t alignment, size_t size, const tsl::AllocationAttributes &) override
	{
		return AllocateRaw(alignment, size);
	}
	void DeallocateRaw(void *at) override;
};

void *GpuCudaMallocAsyncAllocator::AllocateRaw(size_t, size_t size)
{
	void *at = nullptr;

	cudaSetDevice(device_);
	return size > limit_ || cudaMallocAsync(&at, size, nullptr) ? nullptr : at;
}

void GpuCudaMallocAsyncAllocator::DeallocateRaw(void *at)
{
	cudaFreeAsync(at, nullptr);
}

} /* namespace stream_executor */

tsl::Allocator *fakexla_allocator(const char *name, int device, size_t limit)
{
	if (std::string(name).rfind("gpu_async", 0) == 0)
		return new stream_executor::GpuCudaMallocAsyncAllocator(name, device, limit);
	return new tsl::BFCAllocator(name, device, limit);
}

void fakexla_allocator_again(tsl::Allocator *at, const char *name, int device, size_t limit)
{
	static_cast<tsl::BFCAllocator *>(at)->~BFCAllocator();
	new (at) tsl::BFCAllocator(name, device, limit);
}
