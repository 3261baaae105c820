/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Checks a task against each list of a selection. An empty list accepts every task.
 */
#include "profile/filter.h"

#include <string.h>

/* Digits of a container's id: the fewest that a selection may give, and those that a task has. */
enum { SHORTEST_ID = 4, SHOWN_ID = 12 };

int filter_init(struct filter *filter, const struct selection *selection,
                struct profile *const *slices, size_t slice_count)
{
	*filter = (struct filter){.selection = selection};
	if (!selection->children)
		return 0;
	return descent_find(selection->pids, selection->pid_count, slices, slice_count,
	                    selection->known, selection->known_count, &filter->descent);
}

void filter_release(struct filter *filter)
{
	descent_release(&filter->descent);
}

static bool has_id(const uint32_t *ids, size_t count, uint32_t id)
{
	if (!count)
		return true;
	for (size_t i = 0; i < count; i++)
		if (ids[i] == id)
			return true;
	return false;
}

static bool has_name(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return true;
	return !count;
}

static bool is_id(const char *text)
{
	return strlen(text) >= SHORTEST_ID && !text[strspn(text, "0123456789abcdef")];
}

/* Whether they are equal, or ids of which one is the beginning of the other. */
static bool names_container(const char *wanted, const char *container)
{
	size_t len = strlen(wanted), shown = strlen(container);

	if (!strcmp(wanted, container))
		return true;
	return shown == SHOWN_ID && is_id(container) && is_id(wanted) &&
	       !strncmp(wanted, container, len < shown ? len : shown);
}

static bool has_container(const struct selection *selection, const char *container)
{
	for (size_t i = 0; i < selection->container_count; i++)
		if (names_container(selection->containers[i], container))
			return true;
	return !selection->container_count;
}

static bool has_pid(const struct filter *filter, uint32_t pid)
{
	if (filter->selection->children)
		return descent_has(&filter->descent, pid);
	return has_id(filter->selection->pids, filter->selection->pid_count, pid);
}

bool filter_takes(const struct filter *filter, const struct profile *profile,
                  const struct task *task)
{
	const struct selection *selection = filter->selection;

	if (!has_pid(filter, task->pid) ||
	    !has_id(selection->tids, selection->tid_count, task->tid))
		return false;
	if (!has_name(selection->comms, selection->comm_count,
	              profile_string(profile, task->comm)) &&
	    !has_name(selection->comms, selection->comm_count,
	              profile_string(profile, task->thread)))
		return false;
	return has_name(selection->units, selection->unit_count,
	                profile_string(profile, task->unit)) &&
	       has_name(selection->pods, selection->pod_count,
	                profile_string(profile, task->pod)) &&
	       has_container(selection, profile_string(profile, task->container));
}
