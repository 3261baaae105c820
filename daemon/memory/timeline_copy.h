/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct timeline_copy - what the timeline says of one process, for use on another thread. Few
 * bytes: series are kept small.
 */
#pragma once

#include "memory/timeline.h"

struct timeline_copy {
	struct timeline_process process; /* without what its growth is judged by */
	struct timeline_group group;
	char *path; /* the group's */
};

/* Loop thread; the copy must stay put until it is released. 0 or -ENOMEM. */
int timeline_copy(const struct timeline_process *process, struct timeline_copy *ret_copy);
void timeline_copy_release(struct timeline_copy *copy);
