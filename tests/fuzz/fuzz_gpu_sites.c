/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as a reader process's answer about a file with CUDA's functions: an accepted answer has
 * places that can be probed, each once, and cookies from the daemon's list. Any bytes also as such
 * a file: the answer about it is accepted.
 */
#include "cuda/sites.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_cookie(const struct gpu_site *site)
{
	union gpu_site_cookie cookie = gpu_site_cookie(site);

	if (cookie.role >= GPU_ROLE_COUNT || !cookie.call || cookie.call >= gpu_call_count ||
	    !*gpu_call_name(cookie.call) || (cookie.flags & GPU_SITE_RETURNS && cookie.pushed))
		abort();
}

static void check_answer(const uint8_t *data, size_t size)
{
	static struct gpu_file file;
	size_t take = size < sizeof(file) ? size : sizeof(file);

	/* A short input is the start of an answer of the right length. */
	memset(&file, 0, sizeof(file));
	memcpy(&file, data, take);
	if (gpu_sites_check((const uint8_t *)&file, sizeof(file), GPU_LIBRARY_ALL))
		return;
	if (!file.count || file.count > MAX_GPU_SITES)
		abort();
	for (size_t i = 0; i < file.count; i++) {
		check_cookie(&file.sites[i]);
		for (size_t j = 0; j < i; j++) {
			if (file.sites[i].offset == file.sites[j].offset)
				abort();
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct gpu_file file;
	struct elf *elf;

	gpu_sites_check(data, size, GPU_LIBRARY_ALL);
	check_answer(data, size);
	if (elf_open_bytes(data, size, &elf) == 0) {
		if (gpu_sites_find(elf, GPU_LIBRARY_ALL, &file) == 0 &&
		    gpu_sites_check((const uint8_t *)&file, sizeof(file), GPU_LIBRARY_ALL))
			abort();
		elf_free(elf);
	}
	return 0;
}
