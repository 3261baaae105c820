/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A Perfetto trace, gzipped: what ran when, by process and thread. A sample is a StackSample packet
 * with the profile's values as its weights, at the moment when its slice began. What it refers to
 * is interned by earlier packets, under the profile's own ids.
 */
#include "base/clock.h"
#include "encode/encoder.h"
#include "encode/names.h"
#include "encode/perfetto.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	SEQUENCE_ID = 1,
	/* Of TracePacket.sequence_flags. */
	SEQUENCE_BEGINS = 1 | 2,
	SEQUENCE_GOES_ON = 2,
	/* Clocks, by the format's own numbers. */
	TRACE_REALTIME = 1,
	TRACE_MONOTONIC = 3,
};

void trace_put(struct trace_writer *writer, Perfetto__Protos__TracePacket *packet)
{
	Perfetto__Protos__Trace trace = PERFETTO__PROTOS__TRACE__INIT;
	uint8_t *at;

	packet->has_trusted_packet_sequence_id = true;
	packet->trusted_packet_sequence_id = SEQUENCE_ID;
	packet->has_sequence_flags = true;
	packet->sequence_flags = writer->begun ? SEQUENCE_GOES_ON : SEQUENCE_BEGINS;
	writer->begun = true;
	trace.n_packet = 1;
	trace.packet = &packet;
	if (buf_error(&writer->scratch))
		writer->gzip.out->error = buf_error(&writer->scratch);
	at = gzip_reserve(&writer->gzip, perfetto__protos__trace__get_packed_size(&trace));
	if (at)
		gzip_grown(&writer->gzip, perfetto__protos__trace__pack(&trace, at));
}

char *trace_text(struct trace_writer *writer, const char *string)
{
	static char none[1];

	buf_clear(&writer->scratch);
	add_utf8(&writer->scratch, string);
	return writer->scratch.data ? (char *)writer->scratch.data : none;
}

/* The description of a weight. */
struct counter {
	char name[32];
	Perfetto__Protos__StackSample__CounterDescriptor descriptor;
};

static void counter_init(struct counter *counter, const struct profile *profile,
                         const struct value_type *type)
{
	const char *unit = profile_string(profile, type->unit);

	snprintf(counter->name, sizeof(counter->name), "%s", profile_string(profile, type->type));
	perfetto__protos__stack_sample__counter_descriptor__init(&counter->descriptor);
	counter->descriptor.name = counter->name;
	counter->descriptor.has_unit = true;
	if (!strcmp(unit, "nanoseconds"))
		counter->descriptor.unit = PERFETTO__PROTOS__STACK_SAMPLE__UNIT__UNIT_NANOSECONDS;
	else if (!strcmp(unit, "bytes"))
		counter->descriptor.unit = PERFETTO__PROTOS__STACK_SAMPLE__UNIT__UNIT_BYTES;
	else
		counter->descriptor.unit = PERFETTO__PROTOS__STACK_SAMPLE__UNIT__UNIT_COUNT;
}

/* A profile of an earlier boot has a time below 0 by the monotonic clock, which Perfetto drops. */
static bool is_before_boot(const struct profile *profile)
{
	return (int64_t)profile->start_mono_ns < 0;
}

static uint32_t clock_of(const struct profile *profile)
{
	return is_before_boot(profile) ? TRACE_REALTIME : TRACE_MONOTONIC;
}

static uint64_t start_of(const struct profile *profile)
{
	return is_before_boot(profile) ? profile->start_wall_ns : profile->start_mono_ns;
}

/* The value that is shown comes first, as in pprof; the others follow it. */
static void put_defaults(struct trace_writer *writer)
{
	const struct profile *profile = writer->profile;
	Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
	Perfetto__Protos__TracePacketDefaults defaults =
		PERFETTO__PROTOS__TRACE_PACKET_DEFAULTS__INIT;
	Perfetto__Protos__StackSampleDefaults samples =
		PERFETTO__PROTOS__STACK_SAMPLE_DEFAULTS__INIT;
	Perfetto__Protos__StackSample__CounterDescriptor *descriptors[PROFILE_VALUES];
	struct counter counters[PROFILE_VALUES];
	uint32_t count = 0;
	char source[64];

	for (uint32_t i = 0; i < profile->type_count; i++) {
		counter_init(&counters[i], profile, &profile->types[i]);
		if (i != profile->shown)
			descriptors[count++] = &counters[i].descriptor;
	}
	if (profile->type_count) {
		struct counter *shown = &counters[profile->shown];

		snprintf(source, sizeof(source), "profd.%s", shown->name);
		samples.source = source;
		samples.primary_descriptor = &shown->descriptor;
		samples.n_follower_descriptors = count;
		samples.follower_descriptors = descriptors;
	}
	defaults.has_timestamp_clock_id = true;
	defaults.timestamp_clock_id = clock_of(writer->profile);
	defaults.stack_sample_defaults = &samples;
	packet.trace_packet_defaults = &defaults;
	trace_put(writer, &packet);
}

static void put_clocks(struct trace_writer *writer)
{
	const struct profile *profile = writer->profile;
	Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
	Perfetto__Protos__ClockSnapshot snapshot = PERFETTO__PROTOS__CLOCK_SNAPSHOT__INIT;
	Perfetto__Protos__ClockSnapshot__Clock clocks[] = {
		PERFETTO__PROTOS__CLOCK_SNAPSHOT__CLOCK__INIT,
		PERFETTO__PROTOS__CLOCK_SNAPSHOT__CLOCK__INIT,
	};

	for (size_t i = 0; i < 2; i++)
		clocks[i].has_clock_id = clocks[i].has_timestamp = true;
	clocks[0].clock_id = TRACE_MONOTONIC;
	clocks[0].timestamp = profile->start_mono_ns;
	clocks[1].clock_id = TRACE_REALTIME;
	clocks[1].timestamp = profile->start_wall_ns;
	snapshot.n_clocks = is_before_boot(profile) ? 1 : 2;
	snapshot.clocks = (Perfetto__Protos__ClockSnapshot__Clock *[]){&clocks[1], &clocks[0]};
	snapshot.has_primary_trace_clock = true;
	snapshot.primary_trace_clock = clock_of(profile);
	packet.clock_snapshot = &snapshot;
	trace_put(writer, &packet);
}

static void put_process(struct trace_writer *writer, const struct task *task)
{
	Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
	Perfetto__Protos__ProcessTree tree = PERFETTO__PROTOS__PROCESS_TREE__INIT;
	Perfetto__Protos__ProcessTree__Process process =
		PERFETTO__PROTOS__PROCESS_TREE__PROCESS__INIT;
	char *comm = trace_text(writer, profile_string(writer->profile, task->comm));

	process.has_pid = process.has_ppid = true;
	process.pid = (int32_t)task->pid;
	process.ppid = (int32_t)task->parent;
	/* The reader ends a single word at its first blank, and names may have blanks. */
	process.n_cmdline = strchr(comm, ' ') ? 2 : 1;
	process.cmdline = (char *[]){comm, (char[]){""}};
	process.has_cmdline_is_comm = process.cmdline_is_comm = process.n_cmdline == 1;
	tree.n_processes = 1;
	tree.processes = (Perfetto__Protos__ProcessTree__Process *[]){&process};
	packet.process_tree = &tree;
	trace_put(writer, &packet);
}

static void put_thread(struct trace_writer *writer, const struct task *task)
{
	Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
	Perfetto__Protos__ProcessTree tree = PERFETTO__PROTOS__PROCESS_TREE__INIT;
	Perfetto__Protos__ProcessTree__Thread thread = PERFETTO__PROTOS__PROCESS_TREE__THREAD__INIT;

	thread.has_tid = thread.has_tgid = true;
	thread.tid = (int32_t)task->tid;
	thread.tgid = (int32_t)task->pid;
	thread.name = trace_text(writer, profile_string(writer->profile, task->thread));
	tree.n_threads = 1;
	tree.threads = (Perfetto__Protos__ProcessTree__Thread *[]){&thread};
	packet.process_tree = &tree;
	trace_put(writer, &packet);
}

static int by_thread(const void *a, const void *b)
{
	const struct task *x = *(const struct task *const *)a;
	const struct task *y = *(const struct task *const *)b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->at_ms > y->at_ms) - (x->at_ms < y->at_ms);
}

/* The latest task of the process whose tasks begin here; the array ends with NULL. */
static const struct task *latest(const struct task *const *tasks)
{
	const struct task *found = *tasks;

	for (; *tasks && (*tasks)->pid == found->pid; tasks++)
		if ((*tasks)->at_ms > found->at_ms)
			found = *tasks;
	return found;
}

/* Writes each process and thread once, by its last name. A process comes before its threads,
 * because the reader names the main thread after it. The idle task is not a process. */
static int put_tasks(struct trace_writer *writer)
{
	uint32_t count = writer->profile->task_count - 1;
	_cleanup_free_ const struct task **tasks = calloc(count + 1, sizeof(*tasks));

	if (!tasks)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		tasks[i] = &writer->profile->tasks[i + 1];
	qsort(tasks, count, sizeof(*tasks), by_thread);
	for (uint32_t i = 0; i < count; i++) {
		const struct task *task = tasks[i], *next = tasks[i + 1];

		if (task->pid && (!i || tasks[i - 1]->pid != task->pid))
			put_process(writer, latest(tasks + i));
		if (!next || next->pid != task->pid || next->tid != task->tid)
			put_thread(writer, task);
	}
	return 0;
}

static void put_sample(struct trace_writer *writer, const struct sample *from)
{
	const struct profile *profile = writer->profile;
	const struct task *task = &profile->tasks[from->task];
	Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
	Perfetto__Protos__StackSample sample = PERFETTO__PROTOS__STACK_SAMPLE__INIT;
	Perfetto__Protos__StackSample__TaskContext context =
		PERFETTO__PROTOS__STACK_SAMPLE__TASK_CONTEXT__INIT;
	uint64_t weights[PROFILE_VALUES];
	uint32_t count = 0;

	trace_put_callstack(writer, from->node);
	context.has_pid = context.has_tid = true;
	context.pid = task->pid;
	context.tid = task->tid;
	sample.task_context = &context;
	sample.has_callstack_iid = from->node != 0;
	sample.callstack_iid = from->node;
	for (uint32_t i = 0; i < profile->type_count; i++)
		if (i != profile->shown)
			weights[count++] = from->values[i];
	if (profile->type_count) {
		sample.has_primary_weight = true;
		sample.primary_weight = from->values[profile->shown];
		sample.n_follower_weights = count;
		sample.follower_weights = weights;
	}
	packet.has_timestamp = true;
	packet.timestamp = start_of(profile) + task->at_ms * NSEC_PER_MSEC;
	packet.stack_sample = &sample;
	trace_put(writer, &packet);
}

static int write_trace(struct trace_writer *writer)
{
	const struct profile *profile = writer->profile;
	int err;

	put_defaults(writer);
	put_clocks(writer);
	err = put_tasks(writer);
	if (err)
		return err;
	trace_put_names(writer);
	for (uint32_t i = 1; i < profile->sample_count; i++)
		put_sample(writer, &profile->samples[i]);
	return 0;
}

static int encode_perfetto(const struct profile *profile, const struct encode_options *options,
                           struct buf *out)
{
	struct trace_writer writer = {.profile = profile};
	int err = -ENOMEM;

	(void)options;
	gzip_begin(&writer.gzip, out);
	writer.sources_told = calloc(profile->string_count + 1, 1);
	writer.nodes_told = calloc(profile->node_count + 1, 1);
	if (writer.sources_told && writer.nodes_told)
		err = write_trace(&writer);
	free(writer.sources_told);
	free(writer.nodes_told);
	buf_release(&writer.scratch);
	gzip_end(&writer.gzip);
	return err ? err : buf_error(out);
}

const struct encoder encoder_perfetto = {
	.name = "perfetto",
	.summary = "gzipped trace of samples over time, for ui.perfetto.dev",
	.content_type = "application/octet-stream",
	.suffix = ".pftrace.gz",
	.timed = true,
	.encode = encode_perfetto,
};
