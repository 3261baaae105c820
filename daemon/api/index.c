/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Index pages, made from the table of routes: text for curl. A browser gets the page that shows
 * profiles at /.
 */
#include "http/route.h"

#include "api/heap_query.h"
#include "api/page.h"
#include "api/profile_query.h"
#include "encode/encoder.h"
#include "ingest/source.h"

#include <string.h>

static const char plain_text[] = "text/plain; charset=utf-8";
static const char html[] = "text/html; charset=utf-8";

static bool wants_html(struct request *request)
{
	const char *accept = request_client_header(request, MHD_HTTP_HEADER_ACCEPT);

	return accept && strstr(accept, "text/html");
}

static void add_parameters_of(struct buf *body, const char *path,
                              const struct parameter *parameters)
{
	buf_printf(body, "\nparameters of %s\n", path);
	for (const struct parameter *p = parameters; p->name; p++)
		buf_printf(body, "  %-10s %s\n", p->name, p->values);
}

static void add_parameters(struct buf *body)
{
	add_parameters_of(body, "/profile", profile_parameters);
	add_parameters_of(body, "/heap", heap_parameters);
	buf_add_text(body, "\ntypes\n");
	for (size_t kind = 0; kind < KIND_COUNT; kind++)
		buf_printf(body, "  %-10s %s\n", sources[kind]->name, sources[kind]->summary);
	buf_add_text(body, "\nformats\n");
	for (size_t i = 0; encoders[i]; i++)
		buf_printf(body, "  %-10s %s\n", encoders[i]->name, encoders[i]->summary);
}

static void add_text_index(struct buf *body)
{
	buf_printf(body, "profd %s: profiles of all processes of this host\n\n", PROFD_VERSION);
	for (const struct route *route = routes; route->path; route++)
		if (route->summary)
			buf_printf(body, "  %-22s %s\n", route->example, route->summary);
	add_parameters(body);
}

void handle_index(struct request *request)
{
	struct buf body = BUF_INIT;

	if (wants_html(request)) {
		page_answer(request, "index.html");
		return;
	}
	add_text_index(&body);
	request_answer(request, plain_text, &body);
	request_header(request, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT);
}

/* Go's page lists profiles by names relative to itself, and tools follow those links. */
void handle_pprof_index(struct request *request)
{
	struct buf body = BUF_INIT;
	bool page = wants_html(request);

	if (page)
		buf_add_text(&body, "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n"
		                    "<title>/debug/pprof/</title>\n<h1>/debug/pprof/</h1>\n<ul>\n"
		                    "<li><a href=\"profile?seconds=30\">profile</a>: "
		                    "CPU profile of the whole host\n"
		                    "<li><a href=\"cmdline\">cmdline</a>: "
		                    "profd's own command line\n</ul>\n");
	else
		buf_add_text(&body, "/debug/pprof/\n\n"
		                    "profile?seconds=30  CPU profile of the whole host\n"
		                    "cmdline             profd's own command line\n");
	request_answer(request, page ? html : plain_text, &body);
}

void handle_cmdline(struct request *request)
{
	struct buf body = BUF_INIT;
	int err = buf_read_file(&body, "/proc/self/cmdline", MAX_PROC_FILE_BYTES);

	if (err) {
		buf_release(&body);
		request_fail(request, err);
		return;
	}
	request_answer(request, plain_text, &body);
}
