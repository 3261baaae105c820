/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * /processes: what runs and what it costs, from the samples of the last minute. JSON, busiest
 * first; format=text: the same as a table.
 */
#include "base/clock.h"
#include "http/admission.h"
#include "http/json.h"
#include "http/memory_points.h"
#include "http/processes_text.h"
#include "http/route.h"
#include "proc/proc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const uint64_t look_back_ns = 60 * NSEC_PER_SEC;

struct row {
	uint32_t pid;
	char comm[COMM_BYTES];
	uint64_t samples, cpu_ns;
};

struct rows {
	struct row *at;
	size_t count, capacity;
	bool failed;
};

static void add_row(const struct proc *proc, void *ctx)
{
	struct rows *rows = ctx;
	struct row *row;

	if (rows->count == rows->capacity) {
		size_t capacity = rows->capacity ? rows->capacity * 2 : 256;
		struct row *at = reallocarray(rows->at, capacity, sizeof(*at));

		if (!at) {
			rows->failed = true;
			return;
		}
		rows->at = at;
		rows->capacity = capacity;
	}
	row = &rows->at[rows->count++];
	*row = (struct row){.pid = proc->pid};
	snprintf(row->comm, sizeof(row->comm), "%s", proc->comm);
}

static int compare_pid(const void *a, const void *b)
{
	const struct row *left = a, *right = b;

	return (left->pid > right->pid) - (left->pid < right->pid);
}

static int compare_cpu(const void *a, const void *b)
{
	const struct row *left = a, *right = b;

	if (left->cpu_ns != right->cpu_ns)
		return left->cpu_ns < right->cpu_ns ? 1 : -1;
	return compare_pid(a, b);
}

static void add_slice(struct rows *rows, const struct profile *slice)
{
	for (uint32_t i = 1; i < slice->sample_count; i++) {
		const struct sample *sample = &slice->samples[i];
		struct row key = {.pid = slice->tasks[sample->task].pid};
		struct row *row =
			bsearch(&key, rows->at, rows->count, sizeof(*rows->at), compare_pid);

		if (!row)
			continue; /* has exited */
		row->samples += sample->values[0];
		row->cpu_ns += sample->values[1];
	}
}

/* Sums up the samples and returns how much time they cover. */
static int add_samples(struct rows *rows, const struct history *history, uint64_t *ret_covered_ns)
{
	_cleanup_(slices_release) struct slices slices = {0};
	uint64_t now_ns = clock_mono_ns();
	uint64_t covered_ns = 0;
	int err;

	err = recorder_read(history_recorder(history, KIND_cpu),
	                    now_ns > look_back_ns ? now_ns - look_back_ns : 0, now_ns, &slices);
	if (err)
		return err;
	for (size_t i = 0; i < slices.count; i++) {
		add_slice(rows, slices.profiles[i]);
		covered_ns += slices.profiles[i]->duration_ns;
	}
	*ret_covered_ns = covered_ns;
	return 0;
}

static json_t *string_json(const char *string)
{
	return json_text(string, strlen(string));
}

static json_t *cmdline_of(uint32_t pid)
{
	_cleanup_(buf_release) struct buf cmdline = BUF_INIT;
	char path[48];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/cmdline", pid);
	if (buf_read_file(&cmdline, path, MAX_PROC_FILE_BYTES) < 0)
		return string_json("");
	while (cmdline.len && !cmdline.data[cmdline.len - 1])
		cmdline.len--;
	for (size_t i = 0; i < cmdline.len; i++)
		if (!cmdline.data[i])
			cmdline.data[i] = ' ';
	return json_text(buf_text(&cmdline), cmdline.len);
}

/* Of what is not known yet, nulls. */
static int add_memory(json_t *object, const struct timeline_process *process)
{
	uint64_t wall_ms = (clock_wall_ns() - clock_mono_ns()) / NSEC_PER_MSEC;
	uint64_t swap = process ? process->figures.values[MEMORY_swap] : MEMORY_UNKNOWN;
	json_t *rss = process ? json_integer((json_int_t)memory_resident(&process->figures))
	                      : json_null();
	json_t *leak = process ? memory_growth_json(&process->growth, wall_ms) : json_null();

	return json_object_set_new(object, "rss_bytes", rss) |
	       json_object_set_new(object, "swap_bytes",
	                           swap == MEMORY_UNKNOWN ? json_null()
	                                                  : json_integer((json_int_t)swap)) |
	       json_object_set_new(object, "leak", leak);
}

static json_t *process_json(const struct row *row, const struct identity *identity,
                            uint64_t covered_ns, bool with_cmdline)
{
	double percent = covered_ns ? 100.0 * (double)row->cpu_ns / (double)covered_ns : 0.0;
	json_t *object = json_pack(
		"{s:I, s:o, s:o, s:o, s:o, s:f, s:I}", "pid", (json_int_t)row->pid, "comm",
		string_json(row->comm), "unit", string_json(identity ? identity->unit : ""),
		"container", string_json(identity ? identity->container : ""), "pod",
		string_json(identity ? identity->pod : ""), "cpu_percent",
		(double)(uint64_t)(percent * 100 + 0.5) / 100, "samples", (json_int_t)row->samples);

	if (object && with_cmdline)
		json_object_set_new(object, "cmdline", cmdline_of(row->pid));
	return object;
}

static int list_processes(const struct service *service, bool with_cmdline, json_t **ret_list)
{
	const struct timeline *timeline =
		memory_watch_timeline(collector_memory(service->collector));
	struct rows rows = {0};
	_cleanup_free_ struct row *owned = NULL;
	uint64_t covered_ns = 0;
	json_t *list;
	int err;

	procs_each(service->procs, add_row, &rows);
	owned = rows.at;
	if (rows.failed)
		return -ENOMEM;
	err = add_samples(&rows, service->history, &covered_ns);
	if (err)
		return err;
	list = json_array();
	if (!list)
		return -ENOMEM;
	if (rows.count)
		qsort(rows.at, rows.count, sizeof(*rows.at), compare_cpu);
	for (size_t i = 0; i < rows.count; i++) {
		const struct row *row = &rows.at[i];
		const struct identity *identity =
			procs_identity(service->procs, row->pid, UINT64_MAX);

		json_t *object = process_json(row, identity, covered_ns, with_cmdline);

		add_memory(object, timeline_find(timeline, row->pid));
		json_array_append_new(list, object);
	}
	*ret_list = list;
	return 0;
}

static void answer(struct request *request, json_t *list, bool text)
{
	struct buf body = BUF_INIT;

	if (!text) {
		json_answer(request, list);
		return;
	}
	processes_text(list, &body);
	json_decref(list);
	request_answer(request, "text/plain; charset=utf-8", &body);
}

void handle_processes(struct request *request)
{
	const char *cmdline = query_get(&request->query, "cmdline");
	const char *format = query_get(&request->query, "format");
	bool with_cmdline, text = format && !strcmp(format, "text");
	struct refusal refusal;
	json_t *list = NULL;
	int err;

	if (format && !text && strcmp(format, "json") != 0) {
		refuse(&refusal, MHD_HTTP_BAD_REQUEST, "bad format=%.64s: json or text is accepted",
		       format);
		request_refuse(request, &refusal);
		return;
	}
	if (cmdline && strcmp(cmdline, "0") != 0 && strcmp(cmdline, "1") != 0) {
		refuse(&refusal, MHD_HTTP_BAD_REQUEST, "bad cmdline=%.64s: 0 or 1 is accepted",
		       cmdline);
		request_refuse(request, &refusal);
		return;
	}
	with_cmdline = cmdline && cmdline[0] == '1';
	if (with_cmdline &&
	    admit_private(request, "command lines, which may hold secrets, are shown", &refusal)) {
		request_refuse(request, &refusal);
		return;
	}
	err = list_processes(request->service, with_cmdline, &list);
	if (err)
		request_fail(request, err);
	else
		answer(request, list, text);
}
