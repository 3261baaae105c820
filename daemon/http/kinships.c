/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A copy of the process table's answers: they are used on another thread.
 */
#include "http/kinships.h"

#include "base/buf.h"

struct collecting {
	const struct procs *procs;
	struct buf bytes; /* of struct kinship */
};

static void add_process(const struct proc *proc, void *ctx)
{
	struct collecting *collecting = ctx;
	struct kinship kinship = {procs_parent(collecting->procs, proc->pid), proc->pid};

	buf_add(&collecting->bytes, &kinship, sizeof(kinship));
}

int kinships_read(struct procs *procs, struct kinship **ret_known, size_t *ret_count)
{
	struct collecting collecting = {procs, BUF_INIT};

	procs_each(procs, add_process, &collecting);
	int err = buf_error(&collecting.bytes);
	if (err) {
		buf_release(&collecting.bytes);
		return err;
	}
	*ret_known = (struct kinship *)(void *)collecting.bytes.data;
	*ret_count = collecting.bytes.len / sizeof(**ret_known);
	return 0;
}
