/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Run time of each thread. The daemon reads it when a half has ended, to know what samples stand
 * for.
 */
#include "bpf/abi.h"
#include "bpf/kernel.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* Longer than two halves last: a thread that has not run for that long was accounted for before. */
enum { RECENTLY_NS = 4000000000 };

/* Judged by the clock of the thread's CPU, which stands still while the CPU is idle. True where
 * that is not known. */
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
