/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A program that is to be read has a due time. One program is read at a time, and users take turns.
 * The cost of a reading is its worker's CPU time: the more a program costs, the less often it is
 * read, and all programs share a budget.
 */
#include "python/python_threads.h"

#include "base/aside.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/lane.h"
#include "bpf/execs.h"
#include "proc/process_memory.h"
#include "python/python_programs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	RETRIES = 3, /* while a new thread has no name: it may be starting */
	COSTS = 100, /* a program is read for at most 1/COSTS of the time */
};

#define REST_NS        (5 * NSEC_PER_SEC)    /* between two readings of a sampled program */
#define SLOW_NS        (60 * NSEC_PER_SEC)   /* for a program without names */
#define GAP_NS         (100 * NSEC_PER_MSEC) /* minimum, when there are new threads */
#define RETRY_NS       (20 * NSEC_PER_MSEC)
#define PATIENCE_NS    NSEC_PER_SEC          /* with a reading; a busy host may not run it sooner */
#define HUNG_COST_NS   (100 * NSEC_PER_MSEC) /* so that it is read again after COSTS times that */
#define BUDGET_PERCENT 2                     /* of one core, in the long run */
#define BURST_NS       (250 * NSEC_PER_MSEC)

/* How a program is read, and what was read. Belongs to the lane while the reading is under way, and
 * to a thread aside when that is left behind. */
struct reading {
	struct aside_call call;
	uint64_t began_ns, seen_ns; /* from struct python_program */
	struct python_process process;
	struct python_dicts dicts;
	struct python_name names[MAX_PYTHON_NAMED];
	size_t count;
	bool is_process; /* the process was the expected one, to the end */
	uint64_t cost_ns;
};

struct python_threads {
	struct lane *lane;
	struct aside *aside; /* of the lane */
	struct python_threads_hooks hooks;
	struct python_programs programs;
	uv_timer_t timer;
	uint64_t timer_ns; /* when the timer fires; 0: it is not armed */
	uint64_t budget_ns, earned_ns;
	bool stopped;
	struct job job;
	struct python_program *program; /* that is being read; NULL: none is */
	struct reading *reading;        /* of that program; NULL once it was left behind */
	struct python_threads_stats stats;
};

static void on_timer(uv_timer_t *timer);

static void arm(struct python_threads *threads, uint64_t at_ns, uint64_t now)
{
	if (threads->timer_ns && threads->timer_ns <= at_ns)
		return;
	threads->timer_ns = at_ns;
	uv_timer_start(&threads->timer, on_timer,
	               at_ns > now ? (at_ns - now) / NSEC_PER_MSEC + 1 : 0, 0);
}

/* Makes a program due at a time, or leaves an earlier due time; but reads no more often than the
 * program's cost allows. */
static void make_due(struct python_threads *threads, struct python_program *program, uint64_t at_ns,
                     uint64_t now)
{
	uint64_t earliest = program->read_ns + program->cost_ns * COSTS;

	if (threads->stopped)
		return;
	if (at_ns < earliest)
		at_ns = earliest;
	if (program->due_ns && program->due_ns <= at_ns)
		return;
	program->due_ns = at_ns;
	if (!threads->program)
		arm(threads, at_ns, now);
}

static int by_ident(const void *a, const void *b)
{
	const struct python_name *one = a, *other = b;

	return one->ident < other->ident ? -1 : one->ident > other->ident;
}

/* Lists the threads that were sampled since the last reading, and those without a name. */
static size_t list_wanted(const struct python_program *program, struct python_name *names)
{
	struct python_program_thread *thread, *next;
	size_t count = 0;

	HASH_ITER (hh, program->threads, thread, next) {
		if (!thread->ident || count == MAX_PYTHON_NAMED ||
		    (thread->name && thread->asked_ns < program->read_ns))
			continue;
		names[count++] = (struct python_name){.ident = thread->ident, .tid = thread->tid};
	}
	qsort(names, count, sizeof(*names), by_ident);
	return count;
}

/* Drops the names of threads that have ended, because another thread may have got the ident at
 * once. A thread that still exists had its ident all the time, so the name is its own. */
static void leave_out_ended(struct reading *reading)
{
	char path[32];

	for (size_t i = 0; i < reading->count; i++) {
		struct python_name *name = &reading->names[i];
		struct stat status;

		if (!name->text)
			continue;
		snprintf(path, sizeof(path), "/proc/%u/task/%u", reading->call.pid, name->tid);
		if (stat(path, &status) == 0)
			continue;
		free(name->text);
		name->text = NULL;
	}
}

static void reading_free(struct aside_call *call)
{
	struct reading *reading = (struct reading *)call;

	for (size_t i = 0; i < reading->count; i++)
		free(reading->names[i].text);
	free(reading);
}

/* On the thread aside. */
static void run_reading(struct aside_call *call)
{
	struct reading *reading = (struct reading *)call;
	uint64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	_cleanup_(process_memory_close) struct process_memory memory;
	struct python_objects objects = {
		.process = &reading->process,
		.read = process_memory_get_by,
		.ctx = &memory,
		.reads_left = MAX_PYTHON_NAME_READS,
	};

	if (!process_memory_open(call->pid, &memory))
		python_names_read(&objects, &reading->dicts, reading->names, reading->count);
	reading->is_process = process_memory_is_of(call->pid, reading->began_ns);
	leave_out_ended(reading);
	reading->cost_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
}

static struct python_threads *threads_of(struct job *job)
{
	return (struct python_threads *)((char *)job - offsetof(struct python_threads, job));
}

/* On the lane. */
static void run_aside(struct job *job)
{
	struct python_threads *threads = threads_of(job);

	if (aside_run(threads->aside, &threads->reading->call, PATIENCE_NS) == -ETIMEDOUT)
		threads->reading = NULL;
}

static void submit(struct python_threads *threads, struct python_program *program)
{
	struct reading *reading = calloc(1, sizeof(*reading));
	uint32_t pid = program->key.pid;

	program->due_ns = 0;
	if (!reading || !threads->hooks.describe(threads->hooks.ctx, pid, &reading->process) ||
	    !reading->process.interpreter_modules) {
		/* The process is a child that profd does not know yet, or is gone. */
		if (program->retries > 0) {
			program->retries--;
			program->due_ns = clock_mono_ns() + GAP_NS;
		}
		free(reading);
		return;
	}
	reading->call = (struct aside_call){.owner = threads->hooks.owner(threads->hooks.ctx, pid),
	                                    .pid = pid,
	                                    .run = run_reading,
	                                    .free = reading_free};
	reading->began_ns = program->began_ns;
	reading->seen_ns = program->seen_ns;
	reading->dicts = program->dicts;
	reading->count = list_wanted(program, reading->names);
	threads->reading = reading;
	if (reading->count && lane_submit(threads->lane, &threads->job) == 0)
		threads->program = program;
	else
		reading_free(&TAKE_PTR(threads->reading)->call);
}

static void earn(struct python_threads *threads, uint64_t now)
{
	threads->budget_ns += (now - threads->earned_ns) / 100 * BUDGET_PERCENT;
	if (threads->budget_ns > BURST_NS)
		threads->budget_ns = BURST_NS;
	threads->earned_ns = now;
}

/* Reads a program that is due, or sets the timer for the next one. */
static void go_on(struct python_threads *threads)
{
	uint64_t now = clock_mono_ns();
	struct python_program *program;

	earn(threads, now);
	while (!threads->stopped && !threads->program &&
	       (program = python_programs_due(&threads->programs, now))) {
		if (program->due_ns > now) {
			arm(threads, program->due_ns, now);
			return;
		}
		if (!threads->budget_ns) {
			threads->stats.threads_readings_late++;
			arm(threads, now + NSEC_PER_SEC, now);
			return;
		}
		submit(threads, program);
	}
}

static void on_timer(uv_timer_t *timer)
{
	struct python_threads *threads = timer->data;

	threads->timer_ns = 0;
	if (!threads->program)
		go_on(threads);
}

/* Whether the memory that was read belongs to the intended program. */
static bool is_of_program(const struct python_threads *threads)
{
	const struct reading *reading = threads->reading;

	return reading->is_process &&
	       !execs_since(threads->hooks.execs, reading->call.pid, reading->seen_ns);
}

/* Gives the names to their threads, if these are unchanged. Returns how many had a name. */
static size_t take_names(struct python_threads *threads, struct python_program *program,
                         bool is_program)
{
	struct reading *reading = threads->reading;
	size_t named = 0;

	for (size_t i = 0; i < reading->count; i++) {
		struct python_name *name = &reading->names[i];
		struct python_program_thread *thread =
			name->text && is_program ? python_program_thread(program, name->tid) : NULL;

		if (thread && thread->ident == name->ident) {
			python_programs_name(&threads->programs, thread, TAKE_PTR(name->text));
			named++;
		}
		free(name->text);
		name->text = NULL;
	}
	return named;
}

/* How long it is until the program is read again, by what the last reading cost. */
static void note_cost(struct python_threads *threads, struct python_program *program,
                      uint64_t cost_ns)
{
	program->cost_ns = cost_ns;
	program->rest_ns = program->has_names ? REST_NS : program->rest_ns * 2;
	if (program->rest_ns > SLOW_NS)
		program->rest_ns = SLOW_NS;
	python_programs_note(&threads->programs, program, cost_ns);
	threads->budget_ns -= cost_ns < threads->budget_ns ? cost_ns : threads->budget_ns;
	threads->stats.threads_readings++;
	threads->stats.threads_reading_seconds += cost_ns;
	threads->stats.threads_readings_empty += !program->has_names;
}

/* Returns whether all threads got their names. */
static bool take_reading(struct python_threads *threads, struct python_program *program)
{
	struct reading *reading = threads->reading;
	bool is_program = is_of_program(threads);
	size_t named = take_names(threads, program, is_program);

	if (is_program)
		program->dicts = reading->dicts;
	program->has_names |= named > 0;
	note_cost(threads, program, reading->cost_ns);
	return named == reading->count;
}

static void on_read(struct job *job)
{
	struct python_threads *threads = threads_of(job);
	struct python_program *program = TAKE_PTR(threads->program);
	uint64_t now = clock_mono_ns();

	program->read_ns = now;
	if (!threads->reading) {
		program->cost_ns = HUNG_COST_NS;
		python_programs_note(&threads->programs, program, HUNG_COST_NS);
		threads->stats.threads_readings_hung++;
	}
	if (threads->reading && take_reading(threads, program))
		program->retries = 0;
	else if (program->retries > 0)
		make_due(threads, program, now + (RETRY_NS << (RETRIES - program->retries--)), now);
	if (threads->reading)
		reading_free(&TAKE_PTR(threads->reading)->call);
	go_on(threads);
}

struct python_threads *python_threads_new(uv_loop_t *loop, const struct python_threads_hooks *hooks)
{
	struct python_threads *threads = calloc(1, sizeof(*threads));

	if (!threads)
		return NULL;
	threads->hooks = *hooks;
	python_programs_init(&threads->programs);
	threads->job = (struct job){.run = run_aside, .done = on_read};
	threads->earned_ns = clock_mono_ns();
	threads->budget_ns = BURST_NS;
	threads->lane = lane_new(loop, WORK_python_threads, 1);
	threads->aside = aside_new();
	if (!threads->lane || !threads->aside || uv_timer_init(loop, &threads->timer)) {
		lane_free(threads->lane);
		aside_free(threads->aside);
		free(threads);
		return NULL;
	}
	threads->timer.data = threads;
	return threads;
}

void python_threads_stop(struct python_threads *threads)
{
	if (!threads || threads->stopped)
		return;
	threads->stopped = true;
	lane_stop(threads->lane);
	uv_close((uv_handle_t *)&threads->timer, NULL);
}

void python_threads_free(struct python_threads *threads)
{
	if (!threads)
		return;
	python_programs_release(&threads->programs);
	lane_free(threads->lane);
	aside_free(threads->aside);
	free(threads);
}

static void note_seen(struct python_program *program, uint64_t mono_ns)
{
	if (program->seen_ns < mono_ns)
		program->seen_ns = mono_ns;
}

static void note_thread(struct python_threads *threads, const struct python_thread_told *told,
                        uint64_t now)
{
	struct python_program *program =
		python_programs_add(&threads->programs, told->pid, told->image,
	                            threads->hooks.owner(threads->hooks.ctx, told->pid));
	struct python_program_thread *thread =
		program ? python_program_add(&threads->programs, program, told->tid) : NULL;
	uint64_t ident = told->word & WORD_VALUE;

	if (!thread) {
		threads->stats.threads_refused++;
		return;
	}
	thread->asked_ns = now;
	program->began_ns = told->began_ns;
	note_seen(program, told->time_ns);
	if (thread->ident == ident)
		return;
	python_program_give_ident(program, thread, ident);
	python_programs_name(&threads->programs, thread, NULL);
	program->retries = RETRIES;
	program->rest_ns = REST_NS;
	make_due(threads, program, program->read_ns ? program->read_ns + GAP_NS : now, now);
}

bool python_threads_add(struct python_threads *threads, const void *bytes, size_t len)
{
	struct python_thread_told told;
	uint64_t now;

	if (len < sizeof(told))
		return false;
	memcpy(&told, bytes, sizeof(told));
	if ((told.word & WORD_KIND) != WORD_THREAD)
		return false;
	if (threads->stopped || !(told.word & WORD_VALUE))
		return true;
	now = clock_mono_ns();
	python_programs_sweep(&threads->programs, threads->program, now);
	note_thread(threads, &told, now);
	return true;
}

const char *python_threads_name(struct python_threads *threads, uint32_t pid, uint32_t image,
                                uint32_t tid, uint64_t mono_ns)
{
	struct python_program *program = python_programs_find(&threads->programs, pid, image);
	struct python_program_thread *thread = program ? python_program_thread(program, tid) : NULL;
	uint64_t now;

	if (!thread)
		return NULL;
	now = clock_mono_ns();
	thread->asked_ns = now;
	note_seen(program, mono_ns);
	if (thread->ident && now - program->read_ns > program->rest_ns)
		make_due(threads, program, now, now);
	return thread->name;
}

void python_threads_get_stats(const struct python_threads *threads,
                              struct python_threads_stats *ret_stats)
{
	*ret_stats = threads->stats;
	ret_stats->threads = threads->programs.threads;
	ret_stats->threads_named = threads->programs.named;
}
