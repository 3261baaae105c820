/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the group leader of the current task says of the process.
 */
#include "bpf/task.bpf.h"

__noinline u32 task_image(void)
{
	return image_of(task_current()->group_leader);
}
