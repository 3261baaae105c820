/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The clock of the scheduler, for programs that run when it switches.
 */
#pragma once

#include "bpf/task.bpf.h"

/* rq.clock, which the scheduler has just set when it switches; 0 where it is not available. Only
 * loads, no helper call: most switches run nothing else of profd. */
static __always_inline u64 rq_clock(void)
{
	return bpf_core_field_exists(struct cfs_rq, rq) ? task_current()->se.cfs_rq->rq->clock : 0;
}
