/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The table of all endpoints.
 */
#include "http/route.h"

#include "api/elsewhere.h"
#include "api/heap_query.h"
#include "api/profile_query.h"
#include "base/text.h"
#include "http/admission.h"
#include "views/cpu_timeline.h"

#include <errno.h>
#include <string.h>

static const struct parameter no_parameters[] = {{NULL, false, NULL}};

static const struct parameter processes_parameters[] = {
	{"cmdline", false, "1 adds 4 KiB of each command line, which may hold secrets (default 0)"},
	{"format", false, "json (default), or text: a table"},
	{NULL, false, NULL},
};

static const struct parameter tasks_parameters[] = {
	{"pid", false, "the process; required"},
	{"format", false, "text (default), or json"},
	{NULL, false, NULL},
};

static const struct parameter gpu_parameters[] = {
	{"format", false, "json (default), or text: tables"},
	{NULL, false, NULL},
};

static const struct parameter source_parameters[] = {
	{"file", false, "the source file, as debug information names it; required"},
	{"container", false,
         "for a script: the container that has it, as samples name it; empty: none"},
	{"line", false, "the line in the middle (default 1)"},
	{"lines", false, "the number of lines, 1 to 2000 (default 40)"},
	{NULL, false, NULL},
};

static const struct parameter memory_parameters[] = {
	{"pid", false, "the process; required"},
	{"last", false, "how far back the answer goes: 30s, 5m ... (default: all that is kept)"},
	{"pss", false, "1 adds its proportional share of shared memory (default 0)"},
	{NULL, false, NULL},
};

#define PARAMETER(name, values) {name, false, values},
static const struct parameter oom_parameters[] = {
	{"id", false, "answers with the profile of this entry of the list"},
	FORMAT_PARAMETERS(PARAMETER){NULL, false, NULL},
};
#undef PARAMETER

const struct route routes[] = {
	{"/profile", handle_profile, profile_parameters, "/profile?seconds=30",
         "profile of the whole host: CPU time, or what type= names"},
	{"/debug/pprof/profile", handle_profile, profile_parameters, NULL, NULL},
	{"/pprof/profile", handle_profile, profile_parameters, NULL, NULL},
	{"/report", handle_report, report_parameters, "/report?pid=PID&last=1m",
         "what limits a process: CPU, disk, network, locks, GIL ...; requires waits = yes"},
	{"/heap", handle_heap, heap_parameters, "/heap?pid=N&seconds=30",
         "heap of one process: what it allocates and holds; at most four have probes"},
	{"/processes", handle_processes, processes_parameters, "/processes",
         "running processes, by CPU time of the last minute (JSON)"},
	{"/memory", handle_memory, memory_parameters, "/memory?pid=PID",
         "memory of one process over time, and the stacks that make it grow (JSON)"},
	{"/tasks", handle_tasks, tasks_parameters, "/tasks?pid=PID",
         "what the asyncio tasks of a Python program do now and wait for"},
	{"/gpu", handle_gpu, gpu_parameters, "/gpu?format=text",
         "GPUs, and the memory, launches, copies and waits of processes on them (JSON)"},
	{"/oom", handle_oom, oom_parameters, "/oom",
         "processes that ran out of memory (JSON); with id=, the profile of one"},
	{"/source", handle_source, source_parameters, "/source?file=PATH",
         "lines of a source file that a profile has named (JSON)"},
	{"/timeline", handle_timeline, cpu_timeline_parameters, "/timeline?last=10m",
         "CPU time of each process, step by step (JSON)"},
	{"/status", handle_status, no_parameters, "/status",
         "what works and what does not, the overhead, and all counters (JSON)"},
	{"/api", handle_api, no_parameters, "/api",
         "endpoints, parameters, kinds of profile and formats (JSON)"},
	{"/metrics", handle_metrics, no_parameters, "/metrics", "counters for Prometheus"},
	{"/healthz", handle_healthz, no_parameters, "/healthz", "200 while profd runs"},
	{"/readyz", handle_readyz, no_parameters, "/readyz", "200 once samples are recorded"},
	{"/debug/pprof/", handle_pprof_index, no_parameters, "/debug/pprof/",
         "an index like that of Go's net/http/pprof"},
	{"/debug/pprof/cmdline", handle_cmdline, no_parameters, "/debug/pprof/cmdline",
         "profd's own command line"},
	{"/ui/*", handle_page_file, no_parameters, NULL, NULL},
	{"/help", handle_manual_folder, no_parameters, NULL, NULL},
	{"/help/*", handle_manual, no_parameters, "/help/", "the manual pages, for browsers"},
	{"/", handle_index, no_parameters, "/",
         "this list; for browsers, a page that shows profiles"},
	{NULL, NULL, NULL, NULL, NULL},
};

const struct route *route_find(const char *path)
{
	for (const struct route *route = routes; route->path; route++)
		if (text_matches(path, route->path))
			return route;
	return NULL;
}

static int prepare(struct request *request, const char *method, const struct route **ret_route,
                   struct refusal *ret_refusal)
{
	const struct route *route = route_find(request->path);
	int err = admit_request(request, ret_refusal);

	if (err)
		return err;
	if (!route)
		return refuse(ret_refusal, MHD_HTTP_NOT_FOUND,
		              "there is no endpoint %.100s; GET / lists all endpoints%s",
		              request->path, elsewhere_hint("", request->path));
	if (!request->head && strcmp(method, MHD_HTTP_METHOD_GET) != 0)
		return refuse(ret_refusal, MHD_HTTP_METHOD_NOT_ALLOWED,
		              "the method %.20s is not supported; use GET or HEAD", method);
	err = query_parse(request->raw_query, strlen(request->raw_query), &request->query,
	                  ret_refusal);
	if (!err)
		err = query_check(&request->query, route->parameters, ret_refusal);
	if (!err)
		*ret_route = route;
	return err;
}

void route_dispatch(struct request *request, const char *method)
{
	const struct route *route = NULL;
	struct refusal refusal;
	int err;

	request->head = !strcmp(method, MHD_HTTP_METHOD_HEAD);
	err = prepare(request, method, &route, &refusal);
	if (!err) {
		route->handle(request);
		return;
	}
	if (err != -EINVAL) {
		request_fail(request, err);
		return;
	}
	request_refuse(request, &refusal);
	if (refusal.status == MHD_HTTP_METHOD_NOT_ALLOWED)
		request_header(request, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
}
