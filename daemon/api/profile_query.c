/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The parameters of /profile: each is checked against its bounds, and a refusal names the
 * parameter, what was given and what is accepted.
 */
#include "api/profile_query.h"

#include "api/elsewhere.h"
#include "api/range_query.h"
#include "api/task_query.h"
#include "http/query_value.h"
#include "ingest/source.h"
#include "profile/select.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PARAMETER(name, values) {name, false, values},
#define REPEATED(name, values)  {name, true, values},
const struct parameter profile_parameters[] = {
	{"seconds", false,
         "profile the next N seconds, 1 to 600 (default 30; for gpu_memory and gpu_tensor, all "
         "that is recorded until now)"},
	PAST_PARAMETERS(PARAMETER) TASK_PARAMETERS(REPEATED, PARAMETER){
		"python", false, "raw also shows the native frames of the Python interpreter"},
	{"kernel", false, "0 leaves out kernel frames (default 1)"},
	{"idle", false, "1 shows idle CPU time as [idle] (default 0)"},
	{"waiting_for_work", false,
         "for waits: 0 leaves out those in poll and accept, and for conditions (default 1; of lock "
         "0)"},
	{"tasks", false,
         "for wall: 1 shows what the asyncio tasks of the one process of pid= wait for, in place "
         "of "
         "their event loop (default 0)"},
	{"dims", false, "1 separates GPU launches by their grids and blocks (default 0)"},
	FORMAT_PARAMETERS(PARAMETER){"type", false, "the kind of profile (default cpu)"},
	{NULL, false, NULL},
};
#undef REPEATED
#undef PARAMETER

static int read_selection(const struct query *query, struct selection *selection,
                          struct refusal *ret_refusal)
{
	const char *python = query_get(query, "python");
	bool kernel = true, work = selection->view != VIEW_lock;
	int err = task_query_read(query, selection, ret_refusal);

	if (!err)
		err = query_switch(query, "kernel", &kernel, ret_refusal);
	if (!err)
		err = query_switch(query, "idle", &selection->idle, ret_refusal);
	if (!err)
		err = query_switch(query, "waiting_for_work", &work, ret_refusal);
	if (!err)
		err = query_switch(query, "tasks", &selection->tasks, ret_refusal);
	if (!err)
		err = query_switch(query, "dims", &selection->dims, ret_refusal);
	if (err)
		return err;
	if (python && strcmp(python, "raw") != 0)
		return refuse(ret_refusal, 400, "bad python=%.64s: raw is accepted", python);
	selection->no_kernel = !kernel;
	selection->no_work = !work;
	selection->loops = python ? LOOPS_SHOWN : LOOPS_HIDDEN;
	return 0;
}

const char *profile_query_type(const struct capture_ask *ask)
{
	return ask->selection.view ? views[ask->selection.view].name : sources[ask->kind]->name;
}

static int refuse_type(const char *type, struct refusal *ret_refusal)
{
	char list[256] = "";
	size_t len = 0;

	for (size_t kind = 0; kind < KIND_COUNT && len < sizeof(list); kind++)
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", kind ? ", " : "",
		                        sources[kind]->name);
	for (size_t view = VIEW_NONE + 1; view < VIEW_COUNT && len < sizeof(list); view++)
		len += (size_t)snprintf(list + len, sizeof(list) - len, ", %s", views[view].name);
	return refuse(ret_refusal, 400, "bad type=%.64s: one of %s is accepted%s", type, list,
	              elsewhere_hint("type", type));
}

static bool has_idle(const struct source *source)
{
	return source->has_idle;
}

static bool has_dims(const struct source *source)
{
	return source->has_dims;
}

static int refuse_of_others(const char *what, bool (*has)(const struct source *source),
                            const char *type, const char *lacks, struct refusal *ret_refusal)
{
	char list[256] = "";
	size_t len = 0;

	for (int kind = 0; kind < KIND_COUNT && len < sizeof(list); kind++)
		if (has(sources[kind]))
			len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s",
			                        len ? " or " : "", sources[kind]->name);
	return refuse(ret_refusal, 400, "%s requires type=%s; type=%s has no %s", what, list, type,
	              lacks);
}

/* Refuses parameters that the type does not support. */
static int check_type(const struct capture_ask *ask, struct refusal *ret_refusal)
{
	const struct selection *selection = &ask->selection;
	const struct source *source = sources[ask->kind];
	const char *type = profile_query_type(ask);

	if (selection->idle && !source->has_idle)
		return refuse_of_others("idle=1", has_idle, type, "idle time", ret_refusal);
	if (selection->dims && !source->has_dims)
		return refuse_of_others("dims=1", has_dims, type, "grids", ret_refusal);
	if (selection->no_work && ask->kind != KIND_offcpu)
		return refuse(ret_refusal, 400,
		              "waiting_for_work=0 requires type=offcpu, type=wall or type=lock; "
		              "type=%s has no waits",
		              type);
	return 0;
}

/* Tasks are read while a profile is taken, of one process. */
static int check_tasks(const struct profile_query *profile, struct refusal *ret_refusal)
{
	const struct capture_ask *ask = &profile->ask;
	const struct selection *selection = &ask->selection;

	if (!selection->tasks)
		return 0;
	if (selection->view != VIEW_wall)
		return refuse(ret_refusal, 400, "tasks=1 requires type=wall");
	if (ask->range != RANGE_NEXT)
		return refuse(ret_refusal, 400,
		              "tasks=1 requires seconds=: tasks are not recorded");
	if (selection->pid_count != 1 || selection->tid_count || selection->comm_count ||
	    selection->unit_count || selection->container_count || selection->pod_count ||
	    selection->children)
		return refuse(ret_refusal, 400,
		              "tasks=1 requires pid= of one process, and no other selection");
	if (profile->format.encoder->timed)
		return refuse(ret_refusal, 400, "format=%s has no tasks=1",
		              profile->format.encoder->name);
	return 0;
}

static int read_type(const struct query *query, struct capture_ask *ask,
                     struct refusal *ret_refusal)
{
	const char *type = query_get(query, "type");
	size_t kind = KIND_cpu;

	if (type)
		ask->selection.view = view_find(type);
	if (ask->selection.view)
		kind = KIND_offcpu;
	else
		while (type && kind < KIND_COUNT && strcmp(type, sources[kind]->name) != 0)
			kind++;
	if (kind == KIND_COUNT)
		return refuse_type(type, ret_refusal);
	ask->kind = (enum profile_kind)kind;
	if (ask->selection.view == VIEW_lock)
		ask->selection.locks = LOCKS_SHOWN;
	return 0;
}

/* What is in use is a state, so a request that names no time need not wait for any to pass. */
static void default_range(const struct query *query, const struct profile_bounds *bounds,
                          struct capture_ask *ask)
{
	if (ask->range != RANGE_NEXT || query_get(query, "seconds") || !sources[ask->kind]->in_use)
		return;
	ask->range = RANGE_LAST;
	ask->length_ns = bounds->keep_ns;
	ask->all = true;
}

int profile_query_read(const struct query *query, uint64_t now_unix_ns,
                       const struct profile_bounds *bounds, struct profile_query *ret_profile,
                       struct refusal *ret_refusal)
{
	struct profile_query profile = {0};
	int err;

	err = range_query_read(query, now_unix_ns, bounds, &profile.ask, ret_refusal);
	if (!err)
		err = read_type(query, &profile.ask, ret_refusal);
	if (!err)
		err = read_selection(query, &profile.ask.selection, ret_refusal);
	if (!err)
		err = check_type(&profile.ask, ret_refusal);
	if (!err)
		default_range(query, bounds, &profile.ask);
	if (!err)
		err = format_query_read(query, &profile.format, ret_refusal);
	if (err)
		return err;
	if (profile.format.no_native && profile.ask.selection.loops == LOOPS_SHOWN)
		return refuse(ret_refusal, 400,
		              "python=raw and native=0 exclude each other; one is accepted");
	err = check_tasks(&profile, ret_refusal);
	if (err)
		return err;
	profile.ask.selection.no_native = profile.format.no_native;
	profile.ask.selection.timed = profile.format.encoder->timed;
	profile.ask.selection.accounts = profile.format.encoder->accounts;
	*ret_profile = profile;
	return 0;
}
