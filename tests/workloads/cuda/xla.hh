/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The part of XLA's tsl by which allocators are called: the virtual functions of an object.
 */
#pragma once

#include <cstddef>
#include <string>

namespace tsl
{

struct AllocationAttributes {
	bool retry_on_failure = true;
	bool allocation_will_be_logged = false;
	void *freed_by_func = nullptr;
};

class Allocator
{
      public:
	virtual ~Allocator() = default;
	virtual std::string Name() = 0;
	virtual void *AllocateRaw(size_t alignment, size_t size) = 0;
	virtual void *AllocateRaw(size_t alignment, size_t size,
	                          const AllocationAttributes &attributes) = 0;
	virtual void DeallocateRaw(void *at) = 0;
};

} /* namespace tsl */

#define FAKEXLA extern "C" __attribute__((visibility("default")))

/* The name decides the kind: "gpu_async_1", "GPU_0_bfc", "xla_gpu_host_bfc". Limit in bytes. */
FAKEXLA tsl::Allocator *fakexla_allocator(const char *name, int device, size_t limit);
/* Destroys a tsl::BFCAllocator and creates another one at its address. */
FAKEXLA void fakexla_allocator_again(tsl::Allocator *at, const char *name, int device,
                                     size_t limit);
