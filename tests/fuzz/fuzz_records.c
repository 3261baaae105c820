/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as a stream of side-band records for a process table whose objects cannot be opened.
 */
#include "sideband/records.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct store *store = store_new(4);
	struct procs *procs = procs_new(store);

	/* One length byte, then the record. */
	while (procs && size > 1) {
		size_t len = data[0] < size - 1 ? data[0] : size - 1;

		record_apply(data + 1, len, procs);
		data += len + 1;
		size -= len + 1;
	}
	procs_expire(procs, UINT64_MAX);
	procs_free(procs);
	store_free(store);
	return 0;
}
