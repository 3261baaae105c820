/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Up to the end of a page at a time: behind the string there may be nothing.
 */
#include "collect/gpu_name_fetch.h"

#include "interp/process_memory.h"

#include <string.h>
#include <unistd.h>

size_t gpu_name_fetch(uint32_t pid, uint64_t address, char ret_name[GPU_NAME_BYTES])
{
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	size_t len = 0;

	while (len < GPU_NAME_BYTES) {
		size_t piece = page_bytes - (address + len) % page_bytes, used;

		if (piece > GPU_NAME_BYTES - len)
			piece = GPU_NAME_BYTES - len;
		if (process_memory_read(pid, address + len, ret_name + len, piece))
			return 0;
		used = strnlen(ret_name + len, piece);
		len += used;
		if (used < piece)
			break;
	}
	return len;
}
