/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as .gnu_debugdata. The result is within its bound.
 */
#include "base/cleanup.h"
#include "elf/debugdata.h"
#include "tests/fuzz/wrapped.h"

enum { MAX_BYTES = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(elf_freep) struct elf *elf = NULL, *inside = NULL;
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t len = 0, bytes_len;
	_cleanup_free_ struct wrapped *file = wrapped_new(".gnu_debugdata", data, size, &len);

	if (!file || elf_open_bytes(file, len, &elf) < 0 ||
	    debugdata_read(elf, MAX_BYTES, &bytes, &bytes_len) < 0)
		return 0;
	if (!bytes_len || bytes_len > MAX_BYTES)
		abort();
	elf_open_bytes(bytes, bytes_len, &inside);
	return 0;
}
