/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The parameters of /profile: each is checked against its bounds, and a refusal names the
 * parameter, what was given and what is accepted.
 */
#include "api/profile_query.h"

#include "api/elsewhere.h"
#include "base/clock.h"
#include "base/text.h"
#include "http/query_value.h"
#include "ingest/source.h"
#include "profile/select.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { DEFAULT_SECONDS = 30 }; /* as in net/http/pprof; its clients' time-outs expect it */

#define PARAMETER(name, values) {name, false, values},
const struct parameter profile_parameters[] = {
	{"seconds", false,
         "profile the next N seconds, 1 to 600 (default 30; for gpu_memory and gpu_tensor, all "
         "that is recorded until now)"},
	{"last", false, "how far back the profile goes: 30s, 5m ..."},
	{"from", false, "the start of the profile: RFC 3339 or Unix seconds"},
	{"to", false, "the end of the profile (default now)"},
	{"pid", true, "only these processes; may be repeated"},
	{"tid", true, "only these threads; may be repeated"},
	{"comm", true, "only processes or threads of this name; may be repeated"},
	{"unit", true, "only this systemd unit, such as ssh.service; may be repeated"},
	{"container", true,
         "only this container, by its id, 4 or more leading digits of it, or its name"},
	{"pod", true, "only this Kubernetes pod, by its uid; may be repeated"},
	{"children", false,
         "1 adds all descendants of pid=, even if processes between have ended (default 0)"},
	{"python", false, "raw also shows the native frames of the Python interpreter"},
	{"kernel", false, "0 leaves out kernel frames (default 1)"},
	{"idle", false, "1 shows idle CPU time as [idle] (default 0)"},
	{"dims", false, "1 separates GPU launches by their grids and blocks (default 0)"},
	FORMAT_PARAMETERS(PARAMETER){"type", false, "the kind of profile (default cpu)"},
	{NULL, false, NULL},
};
#undef PARAMETER

static int read_ids(const struct query *query, const char *name, uint32_t *ids, size_t *count,
                    struct refusal *ret_refusal)
{
	for (size_t i = 0; i < query->count; i++) {
		uint64_t id;

		if (strcmp(query->pairs[i].name, name) != 0)
			continue;
		if (text_parse_u64(query->pairs[i].value, 1, MAX_TASK_ID, &id) < 0)
			return refuse(ret_refusal, 400,
			              "bad %s=%.64s: an integer from 1 to %d is accepted%s", name,
			              query->pairs[i].value, MAX_TASK_ID,
			              strchr(query->pairs[i].value, ',')
			                      ? "; repeat the parameter for several"
			                      : "");
		ids[(*count)++] = (uint32_t)id;
	}
	return 0;
}

static int read_names(const struct query *query, const char *name, const char *what,
                      const char **names, size_t *count, struct refusal *ret_refusal)
{
	for (size_t i = 0; i < query->count; i++) {
		if (strcmp(query->pairs[i].name, name) != 0)
			continue;
		if (!query->pairs[i].value[0])
			return refuse(ret_refusal, 400, "bad %s=: %s is accepted", name, what);
		names[(*count)++] = query->pairs[i].value;
	}
	return 0;
}

/* The tasks whose samples are selected. */
static int read_tasks(const struct query *query, struct selection *selection,
                      struct refusal *ret_refusal)
{
	int err = read_ids(query, "pid", selection->pids, &selection->pid_count, ret_refusal);

	if (!err)
		err = read_ids(query, "tid", selection->tids, &selection->tid_count, ret_refusal);
	if (!err)
		err = read_names(query, "comm", "the name of a process or thread", selection->comms,
		                 &selection->comm_count, ret_refusal);
	if (!err)
		err = read_names(query, "unit", "the name of a systemd unit", selection->units,
		                 &selection->unit_count, ret_refusal);
	if (!err)
		err = read_names(query, "container", "the id or name of a container",
		                 selection->containers, &selection->container_count, ret_refusal);
	if (!err)
		err = read_names(query, "pod", "the uid of a pod", selection->pods,
		                 &selection->pod_count, ret_refusal);
	return err;
}

static int read_selection(const struct query *query, struct selection *selection,
                          struct refusal *ret_refusal)
{
	const char *python = query_get(query, "python");
	bool kernel = true;
	int err = read_tasks(query, selection, ret_refusal);

	if (!err)
		err = query_switch(query, "kernel", &kernel, ret_refusal);
	if (!err)
		err = query_switch(query, "idle", &selection->idle, ret_refusal);
	if (!err)
		err = query_switch(query, "children", &selection->children, ret_refusal);
	if (!err)
		err = query_switch(query, "dims", &selection->dims, ret_refusal);
	if (err)
		return err;
	if (selection->children && !selection->pid_count)
		return refuse(ret_refusal, 400, "children=1 requires pid=");
	if (python && strcmp(python, "raw") != 0)
		return refuse(ret_refusal, 400, "bad python=%.64s: raw is accepted", python);
	selection->no_kernel = !kernel;
	selection->loops = python ? LOOPS_SHOWN : LOOPS_HIDDEN;
	return 0;
}

/* In a query '+' means a blank, but the '+' before a time zone is meant literally. */
static int parse_time(const char *text, uint64_t *ret_unix_ns)
{
	char plain[64];
	size_t len = strlen(text);

	if (len >= sizeof(plain))
		return -1;
	memcpy(plain, text, len + 1);
	for (size_t i = sizeof("2026-11-21T") - 1; i < len; i++)
		if (plain[i] == ' ')
			plain[i] = '+';
	return text_parse_time(plain, ret_unix_ns);
}

static int read_between(const struct query *query, uint64_t now_unix_ns, struct capture_ask *ask,
                        struct refusal *ret_refusal)
{
	static const char accepted[] = "RFC 3339 or Unix seconds is accepted";
	const char *from = query_get(query, "from");
	const char *to = query_get(query, "to");

	ask->range = RANGE_BETWEEN;
	ask->to_unix_ns = now_unix_ns;
	if (!from)
		return refuse(ret_refusal, 400, "to= requires from=: %s", accepted);
	if (parse_time(from, &ask->from_unix_ns) < 0)
		return refuse(ret_refusal, 400, "bad from=%.64s: %s", from, accepted);
	if (to && parse_time(to, &ask->to_unix_ns) < 0)
		return refuse(ret_refusal, 400, "bad to=%.64s: %s", to, accepted);
	if (ask->from_unix_ns > now_unix_ns)
		return refuse(ret_refusal, 400,
		              "from=%.64s is in the future; use seconds= to profile from now on",
		              from);
	if (ask->from_unix_ns >= ask->to_unix_ns)
		return refuse(ret_refusal, 400, "from=%.64s must be before to=%.64s", from,
		              to ? to : "now");
	return 0;
}

static int read_range(const struct query *query, uint64_t now_unix_ns,
                      const struct profile_bounds *bounds, struct capture_ask *ask,
                      struct refusal *ret_refusal)
{
	const char *seconds = query_get(query, "seconds");
	const char *last = query_get(query, "last");
	bool between = query_get(query, "from") || query_get(query, "to");
	uint64_t max = bounds->max_seconds, count = max < DEFAULT_SECONDS ? max : DEFAULT_SECONDS;
	int err;

	if (!!seconds + !!last + between > 1)
		return refuse(ret_refusal, 400,
		              "seconds=, last= and from=/to= exclude each other; one is accepted");
	if (between)
		return read_between(query, now_unix_ns, ask, ret_refusal);
	if (last) {
		ask->range = RANGE_LAST;
		return query_duration(query, "last", NSEC_PER_SEC, bounds->keep_ns, &ask->length_ns,
		                      ret_refusal);
	}
	ask->range = RANGE_NEXT;
	err = query_number(query, "seconds", 1, max, &count, ret_refusal);
	ask->length_ns = count * NSEC_PER_SEC;
	return err;
}

static int refuse_type(const char *type, struct refusal *ret_refusal)
{
	char list[256] = "";
	size_t len = 0;

	for (size_t kind = 0; kind < KIND_COUNT && len < sizeof(list); kind++)
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s, ",
		                        sources[kind]->name);
	return refuse(ret_refusal, 400, "bad type=%.64s: one of %s" WALL_KIND " is accepted%s",
	              type, list, elsewhere_hint("type", type));
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
	const char *type = selection->wall ? WALL_KIND : source->name;

	if (selection->idle && !source->has_idle)
		return refuse_of_others("idle=1", has_idle, type, "idle time", ret_refusal);
	if (selection->dims && !source->has_dims)
		return refuse_of_others("dims=1", has_dims, type, "grids", ret_refusal);
	return 0;
}

static int read_type(const struct query *query, struct capture_ask *ask,
                     struct refusal *ret_refusal)
{
	const char *type = query_get(query, "type");
	size_t kind = KIND_cpu;

	ask->selection.wall = type && strcmp(type, WALL_KIND) == 0;
	if (ask->selection.wall)
		kind = KIND_offcpu;
	else
		while (type && kind < KIND_COUNT && strcmp(type, sources[kind]->name) != 0)
			kind++;
	if (kind == KIND_COUNT)
		return refuse_type(type, ret_refusal);
	ask->kind = (enum profile_kind)kind;
	return check_type(ask, ret_refusal);
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

	err = read_range(query, now_unix_ns, bounds, &profile.ask, ret_refusal);
	if (!err)
		err = read_selection(query, &profile.ask.selection, ret_refusal);
	if (!err)
		err = read_type(query, &profile.ask, ret_refusal);
	if (!err)
		default_range(query, bounds, &profile.ask);
	if (!err)
		err = format_query_read(query, &profile.format, ret_refusal);
	if (err)
		return err;
	if (profile.format.no_native && profile.ask.selection.loops == LOOPS_SHOWN)
		return refuse(ret_refusal, 400,
		              "python=raw and native=0 exclude each other; one is accepted");
	profile.ask.selection.no_native = profile.format.no_native;
	profile.ask.selection.timed = profile.format.encoder->timed;
	profile.ask.selection.accounts = profile.format.encoder->accounts;
	*ret_profile = profile;
	return 0;
}
