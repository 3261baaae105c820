/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * /source: some lines of a source file, for a page that shows what a profile says about them. Only
 * of a file that debug information has named, and that everybody may read. Which ones were named is
 * known to the symbolizer, so the work is a job of the render lane.
 */
#include "base/text.h"
#include "http/json.h"
#include "http/route.h"
#include "symbolize/source_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

enum {
	MAX_LINE = 100 * 1000 * 1000,
	MAX_LINES = 2000,
	DEFAULT_LINES = 40,
	MAX_ANSWER_BYTES = 1 << 20, /* of lines; those over it are left out */
};

struct source_job {
	struct job job;
	struct request *request; /* NULL once nobody waits for it */
	struct symbolizer *symbolizer;
	char *file;
	uint32_t line, lines;
	struct buf body;
	struct refusal refusal;
	int error; /* -EINVAL: see the refusal */
};

static void source_job_free(struct source_job *source)
{
	if (!source)
		return;
	buf_release(&source->body);
	free(source->file);
	free(source);
}
DEFINE_CLEANUP(struct source_job *, source_job_free)

static struct source_job *source_job_of(struct job *job)
{
	return (struct source_job *)((char *)job - offsetof(struct source_job, job));
}

/* As many lines before it as behind it. */
static int write_lines(struct source_job *source, const struct source_text *text)
{
	uint32_t before = (source->lines - 1) / 2, bytes = 0;
	uint32_t first = source->line > before ? source->line - before : 1;
	json_t *lines = json_array();

	for (uint32_t i = 0; lines && i < source->lines; i++) {
		const char *line = source_text_line(text, first + i);
		size_t len = line ? strlen(line) : 0;

		if (!line || bytes + len > MAX_ANSWER_BYTES)
			break;
		bytes += (uint32_t)len;
		if (json_array_append_new(lines, json_text(line, len))) {
			json_decref(lines);
			return -ENOMEM;
		}
	}
	return json_write(json_pack("{s:o, s:I, s:o}", "file",
	                            json_text(source->file, strlen(source->file)), "first",
	                            (json_int_t)first, "lines", lines),
	                  &source->body);
}

static int refuse_file(struct source_job *source, int err)
{
	switch (err) {
	case -ENOMEM:
		return err;
	case -EACCES:
		return refuse(&source->refusal, MHD_HTTP_FORBIDDEN,
		              "%.300s may not be read by everybody, and is not shown",
		              source->file);
	case -EINVAL:
		return refuse(&source->refusal, MHD_HTTP_NOT_FOUND, "%.300s is no regular file",
		              source->file);
	default:
		return refuse(&source->refusal, MHD_HTTP_NOT_FOUND, "%.300s is not here: %s",
		              source->file, strerror(-err));
	}
}

static int read_source(struct source_job *source)
{
	_cleanup_(source_text_freep) struct source_text *text = NULL;
	uint32_t pid;
	int err;

	if (!symbolizer_knows_file(source->symbolizer, source->file, &pid))
		return refuse(&source->refusal, MHD_HTTP_NOT_FOUND,
		              "no profile so far names %.300s", source->file);
	err = source_text_read(pid, source->file, &text);
	if (err)
		return refuse_file(source, err);
	if (source->line > source_text_count(text) && source->line > 1)
		return refuse(&source->refusal, MHD_HTTP_NOT_FOUND,
		              "%.300s has %" PRIu32 " lines, and none of number %" PRIu32,
		              source->file, source_text_count(text), source->line);
	return write_lines(source, text);
}

/* Worker thread. */
static void run_source(struct job *job)
{
	struct source_job *source = source_job_of(job);

	source->error = read_source(source);
}

static void on_source(struct job *job)
{
	struct source_job *source = source_job_of(job);

	if (source->request && !source->error)
		request_answer(source->request, "application/json", &source->body);
	else if (source->request && source->error == -EINVAL)
		request_refuse(source->request, &source->refusal);
	else if (source->request)
		request_fail(source->request, source->error);
	source_job_free(source);
}

/* The request is about to be answered by somebody else, or freed; the lane still has the job. */
static void on_abandoned(void *owner)
{
	struct source_job *source = owner;

	source->request = NULL;
}

static int read_number(const struct query *query, const char *name, uint64_t max, uint32_t *value,
                       struct refusal *ret_refusal)
{
	const char *text = query_get(query, name);
	uint64_t number;

	if (!text)
		return 0;
	if (text_parse_u64(text, 1, max, &number) < 0)
		return refuse(ret_refusal, MHD_HTTP_BAD_REQUEST,
		              "bad %s=%.64s: an integer from 1 to %ju is accepted", name, text,
		              (uintmax_t)max);
	*value = (uint32_t)number;
	return 0;
}

static int read_query(const struct query *query, struct source_job *source,
                      struct refusal *ret_refusal)
{
	const char *file = query_get(query, "file");
	int err;

	if (!file || file[0] != '/' || strlen(file) >= MAX_PATH_BYTES)
		return refuse(ret_refusal, MHD_HTTP_BAD_REQUEST,
		              "bad file=%.64s: an absolute path of less than %d bytes is accepted",
		              file ? file : "", MAX_PATH_BYTES);
	source->line = 1;
	source->lines = DEFAULT_LINES;
	err = read_number(query, "line", MAX_LINE, &source->line, ret_refusal);
	if (!err)
		err = read_number(query, "lines", MAX_LINES, &source->lines, ret_refusal);
	if (err)
		return err;
	source->file = strdup(file);
	return source->file ? 0 : -ENOMEM;
}

/* Parks the request and has the job done. */
static int submit(struct request *request, struct source_job *source)
{
	int err;

	source->request = request;
	source->symbolizer = request->service->symbolizer;
	source->error = -ECANCELED;
	source->job.run = run_source;
	source->job.done = on_source;
	err = request_park(request, source, on_abandoned);
	if (err)
		return err;
	/* From here on it is parked, and whoever answers it takes it back. */
	err = lane_submit(request->service->render, &source->job);
	if (err)
		request_fail(request, err);
	return err;
}

void handle_source(struct request *request)
{
	_cleanup_(source_job_freep) struct source_job *source = calloc(1, sizeof(*source));
	struct refusal refusal;
	int err = source ? read_query(&request->query, source, &refusal) : -ENOMEM;

	if (err == -EINVAL) {
		request_refuse(request, &refusal);
		return;
	}
	if (!err)
		err = submit(request, source);
	if (!err)
		TAKE_PTR(source); /* the lane has it */
	else if (!request->response)
		request_fail(request, err);
}
