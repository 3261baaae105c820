/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * /source: some lines of a source file, for a page that shows what a profile says about them. Only
 * for files that debug information has named and that everybody may read. The symbolizer knows
 * which files were named, so the work is a job of the render lane.
 */
#include "http/admission.h"
#include "http/json.h"
#include "http/query_value.h"
#include "http/route.h"
#include "symbolize/source_text.h"
#include "views/errand.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

enum {
	MAX_LINE = 100 * 1000 * 1000,
	MAX_LINES = 2000,
	DEFAULT_LINES = 40,
	MAX_ANSWER_BYTES = 1 << 20, /* of lines; lines beyond it are left out */
};

struct source_job {
	struct errand errand;
	struct symbolizer *symbolizer;
	char *file, *container; /* NULL: any */
	uint64_t line, lines;
	uint32_t viewer;
};

static void source_job_free(struct source_job *source)
{
	if (!source)
		return;
	free(source->file);
	free(source->container);
	free(source);
}
DEFINE_CLEANUP(struct source_job *, source_job_free)

static struct source_job *source_job_of(struct errand *errand)
{
	return (struct source_job *)((char *)errand - offsetof(struct source_job, errand));
}

static void free_source(struct errand *errand)
{
	source_job_free(source_job_of(errand));
}

/* Writes as many lines before the requested one as after it. */
static int write_lines(struct source_job *source, const struct source_text *text)
{
	uint32_t before = (uint32_t)(source->lines - 1) / 2, bytes = 0;
	uint32_t first = source->line > before ? (uint32_t)source->line - before : 1;
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
	                  &source->errand.body);
}

static int refuse_file(struct source_job *source, int err)
{
	switch (err) {
	case -ENOMEM:
		return err;
	case -EACCES:
		return refuse(&source->errand.refusal, MHD_HTTP_FORBIDDEN,
		              "not every user may read %.300s, so profd does not show it",
		              source->file);
	case -EPERM:
		return refuse(&source->errand.refusal, MHD_HTTP_FORBIDDEN,
		              "%.300s is in the root folder of another user's process; without the "
		              "setting group, profd shows it only to root and that user",
		              source->file);
	case -EINVAL:
		return refuse(&source->errand.refusal, MHD_HTTP_NOT_FOUND,
		              "%.300s is not a regular file", source->file);
	case -EOPNOTSUPP:
		return refuse(&source->errand.refusal, MHD_HTTP_FORBIDDEN,
		              "%.300s is on a file system that a user has mounted or a user's "
		              "program serves; profd does not read it",
		              source->file);
	case -ETIMEDOUT:
		return refuse(&source->errand.refusal, MHD_HTTP_SERVICE_UNAVAILABLE,
		              "reading %.300s took too long; try again", source->file);
	case -ESRCH:
		return refuse(&source->errand.refusal, MHD_HTTP_NOT_FOUND,
		              "%.300s is not available: the process that ran it has ended",
		              source->file);
	default:
		return refuse(&source->errand.refusal, MHD_HTTP_NOT_FOUND, "cannot read %.300s: %s",
		              source->file, strerror(-err));
	}
}

/* Worker thread. */
static int read_source(struct errand *errand)
{
	struct source_job *source = source_job_of(errand);
	_cleanup_(source_text_freep) struct source_text *text = NULL;
	struct source_root root;
	int err;

	if (!symbolizer_knows_file(source->symbolizer, source->file, source->container, &root))
		return refuse(&source->errand.refusal, MHD_HTTP_NOT_FOUND,
		              "no profile so far names %.300s", source->file);
	root.viewer = source->viewer;
	err = source_text_read(symbolizer_aside(source->symbolizer), &root, source->file, &text);
	if (err)
		return refuse_file(source, err);
	if (source->line > source_text_count(text) && source->line > 1)
		return refuse(&source->errand.refusal, MHD_HTTP_NOT_FOUND,
		              "%.300s has %" PRIu32 " lines; there is no line %" PRIu64,
		              source->file, source_text_count(text), source->line);
	return write_lines(source, text);
}

static int read_query(const struct query *query, struct source_job *source,
                      struct refusal *ret_refusal)
{
	const char *file = query_get(query, "file"), *container = query_get(query, "container");
	int err;

	if (!file || file[0] != '/' || strlen(file) >= MAX_PATH_BYTES)
		return refuse(ret_refusal, MHD_HTTP_BAD_REQUEST,
		              "bad file=%.64s: an absolute path of less than %d bytes is accepted",
		              file ? file : "", MAX_PATH_BYTES);
	source->line = 1;
	source->lines = DEFAULT_LINES;
	err = query_number(query, "line", 1, MAX_LINE, &source->line, ret_refusal);
	if (!err)
		err = query_number(query, "lines", 1, MAX_LINES, &source->lines, ret_refusal);
	if (err)
		return err;
	source->file = strdup(file);
	source->container = container ? strdup(container) : NULL;
	return source->file && (source->container || !container) ? 0 : -ENOMEM;
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
	if (err) {
		request_fail(request, err);
		return;
	}
	source->symbolizer = request->service->symbolizer;
	source->viewer = admit_viewer(request);
	source->errand.content_type = "application/json";
	source->errand.run = read_source;
	source->errand.free = free_source;
	errand_start(&TAKE_PTR(source)->errand, request);
}
