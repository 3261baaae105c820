/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the group leader of the current task says of the process.
 */
#include "bpf/task.bpf.h"

__noinline u32 task_image(void)
{
	struct task_struct *leader = task_current()->group_leader;

	return (u32)(leader->start_boottime >> 10) ^ (u32)leader->self_exec_id << 16;
}
