/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Jobs of the crew open, read and close files. A job has the program's files while it is under way.
 */
#include "jit/jit_dump_file.h"
#include "jit/jit_map.h"
#include "jit/jit_private.h"

#include <string.h>

/* A file that is not there, or may be another one by now, is looked for at this interval at most.
 */
#define REST_NS (5 * NSEC_PER_SEC)

/* Files are kept open for this time after the program's generated code was last sampled. */
#define KEEP_NS (20 * NSEC_PER_SEC)

/* Opening is by pid: the process must have been sampled a moment ago. */
#define RECENT_NS (5 * NSEC_PER_SEC)

/* Where programs tell of their code. Only the first one that a program has counts: two would tell
 * of the same code at different times. */
static const struct {
	int (*open)(struct jit_file *file, const struct jit_where *where);
	ssize_t (*read)(struct jit_file *file, struct jit_codes *told);
} providers[JIT_PROVIDERS] = {
	{jit_dump_file_open, jit_dump_file_read}, /* has lines */
	{jit_map_open, jit_map_read},
};

struct reading {
	struct crew_job job;
	struct jit *jit;
	struct jit_program *program;
	struct jit_where where;
	bool opens;
	struct jit_file files[JIT_PROVIDERS];
	uint32_t round; /* of struct jit, when it began */
	struct jit_codes told;
	size_t bytes; /* that were read */
	bool has_more, has_failed;
};

static bool has_file(const struct jit_program *program)
{
	for (size_t i = 0; i < JIT_PROVIDERS; i++)
		if (program->files[i].fd >= 0)
			return true;
	return false;
}

/* On the crew, because closing a file may wait. */
static void run_close(struct crew_job *job)
{
	for (size_t i = 0; i < JIT_PROVIDERS; i++)
		jit_file_close(&((struct reading *)job)->files[i]);
}

/* If the job was not run, the kernel closes the files when the daemon has ended. */
static void closed(struct crew_job *job, int err)
{
	(void)err;
	free(job);
}

void jit_files_close(struct jit *jit, struct jit_program *program)
{
	struct reading *reading =
		has_file(program) && jit->crew ? calloc(1, sizeof(*reading)) : NULL;

	if (!reading)
		return;
	reading->job = (struct crew_job){.owner = program->owner,
	                                 .device = crew_process(program->where.pid),
	                                 .gives_back = true,
	                                 .run = run_close,
	                                 .done = closed};
	memcpy(reading->files, program->files, sizeof(reading->files));
	for (size_t i = 0; i < JIT_PROVIDERS; i++)
		program->files[i].fd = -1;
	if (crew_submit(jit->crew, &reading->job))
		free(reading);
}

static void open_files(struct reading *reading)
{
	if (jit_own_number(reading->where.pid, &reading->where.number))
		return;
	for (size_t i = 0; i < JIT_PROVIDERS; i++)
		providers[i].open(&reading->files[i], &reading->where);
	/* If it is the process now, it was so all the time. */
	if (!jit_where_is(&reading->where))
		for (size_t i = 0; i < JIT_PROVIDERS; i++)
			jit_file_close(&reading->files[i]);
}

static void run_reading(struct crew_job *job)
{
	struct reading *reading = (struct reading *)job;
	ssize_t bytes = 0;
	size_t i = 0;

	if (reading->opens)
		open_files(reading);
	while (i < JIT_PROVIDERS && reading->files[i].fd < 0)
		i++;
	if (i < JIT_PROVIDERS)
		bytes = providers[i].read(&reading->files[i], &reading->told);
	reading->bytes = bytes > 0 ? (size_t)bytes : 0;
	reading->has_more = bytes == JIT_READ_BYTES || reading->told.count >= JIT_TOLD_EACH;
	reading->has_failed = jit_codes_sort(&reading->told) || bytes < 0;
}

static void rest(struct jit_program *program)
{
	program->rest_ns *= 2;
	if (program->rest_ns > REST_NS || has_file(program))
		program->rest_ns = REST_NS;
	program->due_ns = clock_mono_ns() + program->rest_ns;
}

static void end_reading(struct crew_job *job, int err);

/* The share for it is taken. */
static void begin(struct jit *jit, struct jit_program *program, bool opens)
{
	struct reading *reading = calloc(1, sizeof(*reading));

	if (reading) {
		reading->job = (struct crew_job){.owner = program->owner,
		                                 .device = crew_process(program->where.pid),
		                                 .run = run_reading,
		                                 .done = end_reading};
		reading->jit = jit;
		reading->program = program;
		reading->where = program->where;
		reading->opens = opens;
		reading->round = jit->round;
		memcpy(reading->files, program->files, sizeof(reading->files));
	}
	if (!reading || crew_submit(jit->crew, &reading->job)) {
		shares_give(&jit->under_way, program->owner, 1);
		free(reading);
		return;
	}
	program->is_read = true;
	for (size_t i = 0; i < JIT_PROVIDERS; i++)
		program->files[i].fd = -1;
}

/* Begins the readings for which there is room. */
static void begin_waiting(struct jit *jit)
{
	for (struct jit_program *program = jit->by_use; program; program = program->next)
		if (program->is_waiting)
			jit_reading_begin(jit, program);
}

static void take_reading(struct jit *jit, struct jit_program *program, struct reading *reading,
                         bool has_failed)
{
	if (reading->opens)
		rest(program);
	if (!has_failed && reading->told.told.count)
		jit_program_lay(jit, program, &reading->told);
	program->is_incomplete = has_failed || reading->has_more;
	program->is_behind = program->is_incomplete || reading->round != jit->round;
	program->is_waiting |= !has_failed && reading->has_more;
}

static void end_reading(struct crew_job *job, int err)
{
	struct reading *reading = (struct reading *)job;
	struct jit_program *program = reading->program;
	struct jit *jit = reading->jit;

	shares_give(&jit->under_way, program->owner, 1);
	jit_debts_add(&jit->debts, program->owner, reading->bytes);
	program->is_read = false;
	memcpy(program->files, reading->files, sizeof(program->files));
	if (program->is_out)
		jit_program_free(jit, program);
	else
		take_reading(jit, program, reading, err || reading->has_failed);
	jit_codes_release(&reading->told);
	free(reading);
	begin_waiting(jit);
}

void jit_reading_begin(struct jit *jit, struct jit_program *program)
{
	uint64_t now_ns = clock_mono_ns();
	bool opens = now_ns >= program->due_ns && now_ns - program->met_ns < RECENT_NS;

	if (program->is_read || !jit->crew)
		return;
	if (jit_debts_exceeded(&jit->debts, program->owner))
		program->is_incomplete |= has_file(program);
	else if ((has_file(program) || opens) &&
	         !shares_take_beside_root(&jit->under_way, program->owner, 1))
		return;
	else if (has_file(program) || opens)
		begin(jit, program, opens);
	program->is_waiting = false;
}

void jit_read(struct jit *jit)
{
	uint64_t now_ns = clock_mono_ns();

	jit->round++;
	jit_debts_pay(&jit->debts, now_ns);
	shares_clear(&jit->looks);
	for (struct jit_program *program = jit->by_use; program; program = program->next) {
		/* What was read while a drain went on may be about the next half already. */
		program->fresh_before = program->fresh;
		program->fresh = 0;
		jit_ranges_release(&program->gone_before);
		program->gone_before = program->gone;
		program->gone = (struct jit_ranges){0};
		program->is_behind |= has_file(program) || program->is_read;
		program->is_waiting = now_ns - program->met_ns < JIT_MET_NS;
		if (now_ns - program->met_ns > KEEP_NS)
			jit_files_close(jit, program);
	}
	begin_waiting(jit);
}
