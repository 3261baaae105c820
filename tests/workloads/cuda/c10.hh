/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The part of PyTorch's c10 by which its allocators report each tensor.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace c10
{

struct Device {
	int8_t type; /* 0: CPU, 1: CUDA */
	int8_t index;
};

void reportMemoryUsageToProfiler(void *at, int64_t grown, size_t allocated, size_t reserved,
                                 Device device);
void reportOutOfMemoryToProfiler(int64_t size, size_t allocated, size_t reserved, Device device);
void *alloc_cpu(size_t size);
void free_cpu(void *at);

class ProfiledCPUMemoryReporter
{
      public:
	void New(void *at, size_t size);
	void Delete(void *at);
};

} /* namespace c10 */
