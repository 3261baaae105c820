/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A copy of the process table's data, for use on another thread.
 */
#include "http/kinships.h"

#include "base/buf.h"

static void add_kinship(uint32_t parent, uint32_t pid, void *ctx)
{
	struct kinship kinship = {parent, pid};

	buf_add(ctx, &kinship, sizeof(kinship));
}

int kinships_read(const struct procs *procs, struct kinship **ret_known, size_t *ret_count)
{
	struct buf bytes = BUF_INIT;
	int err;

	procs_each_kin(procs, add_kinship, &bytes);
	err = buf_error(&bytes);
	if (err) {
		buf_release(&bytes);
		return err;
	}
	*ret_known = (struct kinship *)(void *)bytes.data;
	*ret_count = bytes.len / sizeof(**ret_known);
	return 0;
}
