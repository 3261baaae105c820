/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct timeline_copy - a copy of the timeline of one process, for use on another thread. It takes
 * few bytes, because series are small.
 */
#pragma once

#include "memory/timeline.h"

struct timeline_copy {
	struct timeline_process process; /* without floors */
	struct timeline_group group;
	char *path; /* of the group */
};

/* Loop thread; the copy must not be moved until it is released. 0 or -ENOMEM. */
int timeline_copy(const struct timeline_process *process, struct timeline_copy *ret_copy);
void timeline_copy_release(struct timeline_copy *copy);
