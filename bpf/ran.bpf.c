/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How long each thread has run, read by the daemon when a half has ended: what samples stand for.
 */
#include "bpf/abi.h"
#include "bpf/kernel.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* Who has not run for longer than two halves last was accounted for then. */
enum { RECENTLY_NS = 4000000000 };

/* By the clock of its CPU, which stands still while the CPU is idle. True where it is not known. */
static __always_inline int ran_recently(struct task_struct *task)
{
	u64 now;

	if (!bpf_core_field_exists(struct cfs_rq, rq) || !task->se.cfs_rq)
		return 1;
	now = task->se.cfs_rq->rq->clock_task;
	return now < task->se.exec_start + RECENTLY_NS;
}

SEC("iter/task")
int threads_ran(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct thread_ran ran = {0};

	if (!task || !ran_recently(task))
		return 0;
	ran.tid = task->pid;
	ran.ran_ns = task->se.sum_exec_runtime;
	bpf_seq_write(ctx->meta->seq, &ran, sizeof(ran));
	return 0;
}
