/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Each row is one JSON object, which is written and freed before the next is made, so the list
 * takes only the memory of its text.
 */
#include "views/process_list.h"

#include "base/bounds.h"
#include "base/clock.h"
#include "http/json.h"
#include "views/memory_points.h"
#include "views/process_cmdline.h"
#include "views/processes_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MIN_CMDLINE_BYTES = 256 }; /* of each process, however many there are */

static void take_memory(struct process_row *row, const struct timeline_process *process)
{
	if (!process)
		return;
	row->watched = true;
	row->rss_bytes = memory_resident(&process->figures);
	row->swap_bytes = process->figures.values[MEMORY_swap];
	row->growth = process->track.growth;
}

struct collecting {
	struct process_list *list;
	const struct procs *procs;
	const struct timeline *timeline;
	bool failed;
};

static void add_row(const struct proc *proc, void *ctx)
{
	struct collecting *collecting = ctx;
	struct process_list *list = collecting->list;
	struct process_row *row;

	if (list->count == list->capacity) {
		size_t capacity = list->capacity ? list->capacity * 2 : 256;
		struct process_row *rows = reallocarray(list->rows, capacity, sizeof(*rows));

		if (!rows) {
			collecting->failed = true;
			return;
		}
		list->rows = rows;
		list->capacity = capacity;
	}
	row = &list->rows[list->count++];
	*row = (struct process_row){.pid = proc->pid};
	snprintf(row->comm, sizeof(row->comm), "%s", proc->comm);
	row->identity = identity_ref(procs_identity_known(collecting->procs, proc->pid));
	take_memory(row, timeline_find(collecting->timeline, proc->pid));
}

int process_list_collect(struct process_list *list, struct procs *procs,
                         const struct timeline *timeline)
{
	struct collecting collecting = {list, procs, timeline, false};

	procs_each(procs, add_row, &collecting);
	return collecting.failed ? -ENOMEM : 0;
}

void process_list_release(struct process_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		identity_unref(list->rows[i].identity);
	free(list->rows);
	slices_release(&list->slices);
	slices_release(&list->waits);
	*list = (struct process_list){0};
}

static int compare_pid(const void *a, const void *b)
{
	const struct process_row *left = a, *right = b;

	return (left->pid > right->pid) - (left->pid < right->pid);
}

static int compare_cpu(const void *a, const void *b)
{
	const struct process_row *left = a, *right = b;

	if (left->cpu_ns != right->cpu_ns)
		return left->cpu_ns < right->cpu_ns ? 1 : -1;
	return compare_pid(a, b);
}

static void gil_times_add(struct gil_times *times, const char *gil, uint64_t ns)
{
	if (!strcmp(gil, "held"))
		times->held_ns += ns;
	else if (!strcmp(gil, "waiting"))
		times->wanted_ns += ns;
	else if (!strcmp(gil, "released"))
		times->without_ns += ns;
}

/* Adds the samples of a slice of CPU time, or of waits. */
static void add_slice(struct process_list *list, const struct profile *slice, bool is_waits)
{
	for (uint32_t i = 1; i < slice->sample_count; i++) {
		const struct sample *sample = &slice->samples[i];
		const struct task *task = &slice->tasks[sample->task];
		const char *gil = profile_string(slice, task->gil);
		struct process_row key = {.pid = task->pid};
		struct process_row *row =
			bsearch(&key, list->rows, list->count, sizeof(*list->rows), compare_pid);

		if (!row)
			continue; /* the process has exited */
		gil_times_add(is_waits ? &row->waits : &row->runs, gil, sample->values[1]);
		if (is_waits)
			continue;
		row->samples += sample->values[0];
		row->cpu_ns += sample->values[1];
	}
}

/* Returns the time that the samples cover. */
static uint64_t add_samples(struct process_list *list, const struct slices *slices, bool is_waits)
{
	uint64_t covered_ns = 0;

	for (size_t i = 0; list->count && i < slices->count; i++) {
		add_slice(list, slices->profiles[i], is_waits);
		covered_ns += slices->profiles[i]->duration_ns;
	}
	return covered_ns;
}

static json_t *string_json(const char *string)
{
	return json_text(string, strlen(string));
}

size_t process_list_cmdline_bytes(size_t processes)
{
	size_t each = processes ? MAX_CMDLINES_BYTES / processes : MAX_CMDLINE_BYTES;

	if (each < MIN_CMDLINE_BYTES)
		return MIN_CMDLINE_BYTES;
	return each < MAX_CMDLINE_BYTES ? each : MAX_CMDLINE_BYTES;
}

static int add_identity(json_t *object, const struct process_row *row)
{
	static const struct identity none;
	_cleanup_(identity_unrefp) struct identity *read = NULL;
	const struct identity *identity = row->identity;

	if (!identity && !identity_read(row->pid, NULL, &read))
		identity = read;
	if (!identity)
		identity = &none;
	return json_object_set_new(object, "unit", string_json(identity->unit)) |
	       json_object_set_new(object, "container", string_json(identity->container)) |
	       json_object_set_new(object, "pod", string_json(identity->pod));
}

static json_t *bytes_json(bool known, uint64_t bytes)
{
	return known && bytes != MEMORY_UNKNOWN ? json_integer((json_int_t)bytes) : json_null();
}

static double rounded(double number)
{
	return (double)(uint64_t)(number * 100 + 0.5) / 100;
}

/* What belongs to all rows. */
struct writing {
	const struct process_list *list;
	struct cmdline_reader cmdlines;
	uint64_t covered_ns, waits_ns; /* of the samples of CPU time, and of waits */
	uint64_t wall_ms;
};

static double threads(uint64_t ns, uint64_t covered_ns)
{
	return covered_ns ? (double)ns / (double)covered_ns : 0;
}

/* How many threads on average; null for a process that has no GIL, or did not use it. The history
 * of waits may go back less far. */
static json_t *gil_json(const struct writing *writing, const struct process_row *row)
{
	uint64_t runs_ns = writing->covered_ns, waits_ns = writing->waits_ns;
	double held = threads(row->runs.held_ns, runs_ns) + threads(row->waits.held_ns, waits_ns);
	double wanted =
		threads(row->runs.wanted_ns, runs_ns) + threads(row->waits.wanted_ns, waits_ns);

	if (held + wanted <= 0)
		return json_null();
	return json_pack("{s:f, s:o, s:f}", "held", rounded(held), "wanted",
	                 waits_ns ? json_real(rounded(wanted)) : json_null(), "runs_without",
	                 rounded(threads(row->runs.without_ns, runs_ns)));
}

static int add_runtime(json_t *object, const struct process_row *row)
{
	char version[RUNTIME_VERSION_BYTES];
	const struct runtime *runtime = row->runtime.runtime;

	runtime_version_text(&row->runtime, version);
	return json_object_set_new(object, "runtime",
	                           runtime ? json_string(runtime->name) : json_null()) |
	       json_object_set_new(object, "runtime_version",
	                           runtime ? json_string(version) : json_null()) |
	       json_object_set_new(object, "tasks", json_boolean(row->has_tasks));
}

/* Figures that are not known yet are null. */
static int add_memory(json_t *object, const struct process_row *row, uint64_t wall_ms)
{
	json_t *leak = row->watched ? memory_growth_json(&row->growth, wall_ms) : json_null();

	return json_object_set_new(object, "rss_bytes", bytes_json(row->watched, row->rss_bytes)) |
	       json_object_set_new(object, "swap_bytes",
	                           bytes_json(row->watched, row->swap_bytes)) |
	       json_object_set_new(object, "leak", leak);
}

static json_t *row_json(struct writing *writing, const struct process_row *row)
{
	const struct process_list *list = writing->list;
	uint64_t covered_ns = writing->covered_ns;
	double percent = covered_ns ? 100.0 * (double)row->cpu_ns / (double)covered_ns : 0.0;
	json_t *object =
		json_pack("{s:I, s:o, s:f, s:I, s:o}", "pid", (json_int_t)row->pid, "comm",
	                  string_json(row->comm), "cpu_percent", rounded(percent), "samples",
	                  (json_int_t)row->samples, "gil", gil_json(writing, row));
	int failed = !object;

	if (!failed)
		failed = add_runtime(object, row) | add_identity(object, row) |
		         add_memory(object, row, writing->wall_ms);
	if (!failed && list->cmdlines)
		failed = json_object_set_new(object, "cmdline",
		                             cmdline_read(&writing->cmdlines, row->pid,
		                                          process_list_cmdline_bytes(list->count)));
	if (!failed)
		return object;
	json_decref(object);
	return NULL;
}

static int write_row(const struct process_list *list, json_t *row, bool first, struct buf *out)
{
	if (list->text) {
		processes_text_row(row, out);
		return buf_error(out);
	}
	buf_add_text(out, first ? "[\n  " : ",\n  ");
	return json_add(row, 0, out);
}

int process_list_write(struct process_list *list, struct buf *out)
{
	struct writing writing = {
		.list = list,
		.cmdlines.aside = list->cmdlines,
		.covered_ns = add_samples(list, &list->slices, false),
		.waits_ns = add_samples(list, &list->waits, true),
		.wall_ms = (clock_wall_ns() - clock_mono_ns()) / NSEC_PER_MSEC,
	};
	int err = 0;

	if (list->count)
		qsort(list->rows, list->count, sizeof(*list->rows), compare_cpu);
	if (list->text)
		processes_text_head(out);
	for (size_t i = 0; !err && i < list->count; i++) {
		json_t *row = row_json(&writing, &list->rows[i]);

		err = row ? write_row(list, row, !i, out) : -ENOMEM;
		json_decref(row);
	}
	cmdline_reader_release(&writing.cmdlines);
	if (!list->text)
		buf_add_text(out, list->count ? "\n]\n" : "[]\n");
	return err ? err : buf_error(out);
}
