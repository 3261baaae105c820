/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Copies the series of a process and of its group.
 */
#include "memory/timeline_copy.h"

#include <errno.h>
#include <string.h>

static int copy_group(const struct timeline_group *group, struct timeline_copy *copy)
{
	copy->path = strdup(group->path);
	if (!copy->path)
		return -ENOMEM;
	copy->group = (struct timeline_group){
		.path = copy->path, .usage = group->usage, .seen_ms = group->seen_ms};
	copy->process.group = &copy->group;
	return series_copy(&group->series, &copy->group.series);
}

int timeline_copy(const struct timeline_process *process, struct timeline_copy *ret_copy)
{
	int err;

	*ret_copy = (struct timeline_copy){.process = *process};
	ret_copy->process.series = (struct series){0};
	ret_copy->process.track = (struct growth_track){.growth = process->track.growth};
	ret_copy->process.group = NULL;
	err = series_copy(&process->series, &ret_copy->process.series);
	if (!err && process->group)
		err = copy_group(process->group, ret_copy);
	if (err)
		timeline_copy_release(ret_copy);
	return err;
}

void timeline_copy_release(struct timeline_copy *copy)
{
	series_release(&copy->process.series);
	series_release(&copy->group.series);
	free(copy->path);
	*copy = (struct timeline_copy){0};
}
