/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as a mangled name: unchanged, and after each prefix for which demangling is tried.
 */
#include "base/bounds.h"
#include "demangle/demangle.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const prefixes[] = {"", "_Z", "_ZN", "_R", "___Z"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t prefix_len = strlen(prefixes[i]);
		char *name = calloc(1, prefix_len + size + 1);
		if (!name)
			return 0;
		memcpy(name, prefixes[i], prefix_len);
		if (size)
			memcpy(name + prefix_len, data, size);
		char *readable = demangle(name);
		if (readable && strlen(readable) > MAX_SYMBOL_NAME_BYTES)
			abort();
		free(readable);
		free(name);
	}
	return 0;
}
