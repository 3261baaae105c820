/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as an executable that names its debug files, and as a reader process's answer about it:
 * every answer that is read from a file passes the check, and in an answer that passes, the strings
 * end.
 */
#include "object/links.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	struct links links;

	if (elf_open_bytes(data, size, &elf) == 0) {
		links_read(elf, &links);
		if (links_check((const uint8_t *)&links, sizeof(links)))
			abort();
	}
	/* Most inputs are shorter than an answer: the rest is zero. */
	memset(&links, 0, sizeof(links));
	memcpy(&links, data, size < sizeof(links) ? size : sizeof(links));
	if (links_check((const uint8_t *)&links, sizeof(links)) == 0 &&
	    (memchr(links.debug_name, '\0', sizeof(links.debug_name)) == NULL ||
	     memchr(links.supplement, '\0', sizeof(links.supplement)) == NULL))
		abort();
	return 0;
}
