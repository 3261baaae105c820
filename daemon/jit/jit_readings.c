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

/* Where programs tell of their code. What a later one tells counts more. */
static const struct {
	int (*open)(struct jit_file *file, const struct jit_where *where);
	ssize_t (*read)(struct jit_file *file, struct jit_codes *told);
} providers[JIT_PROVIDERS] = {
	{jit_map_open, jit_map_read},
	{jit_dump_file_open, jit_dump_file_read},
};

struct reading {
	struct crew_job job;
	struct jit *jit;
	struct jit_program *program;
	struct jit_where where;
	bool opens;
	struct jit_file files[JIT_PROVIDERS];
	struct jit_codes told;
	size_t bytes; /* that were read */
	bool has_more;
};

static void forget_files(struct jit_file *files)
{
	for (size_t i = 0; i < JIT_PROVIDERS; i++)
		files[i] = JIT_FILE_CLOSED;
}

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
	forget_files(program->files);
	if (crew_submit(jit->crew, &reading->job))
		free(reading);
}

static void run_reading(struct crew_job *job)
{
	struct reading *reading = (struct reading *)job;

	for (size_t i = 0; i < JIT_PROVIDERS; i++) {
		struct jit_file *file = &reading->files[i];
		ssize_t bytes = 0;

		if (reading->opens)
			providers[i].open(file, &reading->where);
		if (file->fd >= 0)
			bytes = providers[i].read(file, &reading->told);
		reading->has_more |= bytes == JIT_READ_BYTES;
		reading->bytes += bytes > 0 ? (size_t)bytes : 0;
	}
	/* Without memory nothing of it is added. */
	if (jit_codes_sort(&reading->told))
		jit_codes_release(&reading->told);
}

static void begin_reading(struct jit *jit, struct jit_program *program);

static void rest(struct jit_program *program)
{
	program->rest_ns *= 2;
	if (program->rest_ns > REST_NS || has_file(program))
		program->rest_ns = REST_NS;
	program->due_ns = clock_mono_ns() + program->rest_ns;
}

static void end_reading(struct crew_job *job, int err)
{
	struct reading *reading = (struct reading *)job;
	struct jit_program *program = reading->program;
	struct jit *jit = reading->jit;

	jit_debts_add(&jit->debts, program->owner, reading->bytes);
	program->is_read = false;
	program->is_behind = reading->has_more;
	memcpy(program->files, reading->files, sizeof(program->files));
	if (program->is_out) {
		jit_program_free(jit, program);
	} else {
		if (reading->opens)
			rest(program);
		if (!err && reading->told.count)
			jit_program_lay(jit, program, &reading->told);
		if (!err && reading->has_more)
			begin_reading(jit, program);
	}
	jit_codes_release(&reading->told);
	free(reading);
}

static void begin_reading(struct jit *jit, struct jit_program *program)
{
	bool opens = clock_mono_ns() >= program->due_ns;
	struct reading *reading;

	if (program->is_read || !jit->crew || (!has_file(program) && !opens))
		return;
	if (jit_debts_exceeded(&jit->debts, program->owner))
		return;
	reading = calloc(1, sizeof(*reading));
	if (!reading)
		return;
	reading->job = (struct crew_job){.owner = program->owner,
	                                 .device = crew_process(program->where.pid),
	                                 .run = run_reading,
	                                 .done = end_reading};
	reading->jit = jit;
	reading->program = program;
	reading->where = program->where;
	reading->opens = opens;
	memcpy(reading->files, program->files, sizeof(reading->files));
	if (crew_submit(jit->crew, &reading->job)) {
		free(reading);
		return;
	}
	program->is_read = true;
	forget_files(program->files);
}

void jit_read(struct jit *jit)
{
	uint64_t now_ns = clock_mono_ns();

	jit_debts_pay(&jit->debts, now_ns);
	for (struct jit_program *program = jit->by_use; program; program = program->next) {
		/* What was read while a drain went on may be about the next half already. */
		program->fresh_before = program->fresh;
		program->fresh = 0;
		program->is_behind |= has_file(program);
		if (now_ns - program->met_ns < JIT_MET_NS)
			begin_reading(jit, program);
		else if (now_ns - program->met_ns > KEEP_NS && has_file(program))
			jit_files_close(jit, program);
	}
}
