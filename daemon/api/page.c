/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The page's files. Only files in page_files can be requested: no path leads to a file system.
 */
#include "api/page.h"

#include "base/gzip.h"
#include "http/route.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

/*
 * Nothing may be loaded from other origins, no script or style may stand in markup, and no other
 * page may frame this one. A profile may contain any names, so this is a second line of defence.
 */
static const char content_policy[] =
	"default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; "
	"img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
	"frame-ancestors 'none'";

static const char files_prefix[] = "/ui/";

const struct page_file *page_find(const char *path)
{
	for (const struct page_file *file = page_files; file->path; file++)
		if (!strcmp(file->path, path))
			return file;
	return NULL;
}

/* A client refuses gzip by "gzip;q=0": a weight of zero, however many digits it has. */
static bool weight_is_zero(const char *weight)
{
	weight += strspn(weight, " \t");
	if (*weight != ';')
		return false;
	weight += 1 + strspn(weight + 1, " \t");
	if (strncasecmp(weight, "q=0", 3) != 0)
		return false;
	weight += 3;
	weight += *weight == '.';
	weight += strspn(weight, "0");
	return !*weight || strchr(", \t", *weight);
}

bool page_takes_gzip(const char *accept_encoding)
{
	const char *at = accept_encoding ? accept_encoding : "";

	while (*at) {
		size_t len;

		at += strspn(at, ", \t");
		len = strcspn(at, ",; \t");
		if (len == 4 && !strncasecmp(at, "gzip", 4))
			return !weight_is_zero(at + len);
		at += strcspn(at, ",");
	}
	return false;
}

bool page_tag_matches(const char *if_none_match, const char *tag)
{
	if (!if_none_match)
		return false;
	return !strcmp(if_none_match, "*") || strstr(if_none_match, tag);
}

static void answer_inflated(struct request *request, const struct page_file *file)
{
	struct buf body = BUF_INIT;
	int err = gzip_unpack(file->gzipped, file->gzipped_len, &body);

	if (!err) {
		request_answer(request, file->type, &body);
		return;
	}
	buf_release(&body);
	request_fail(request, err);
}

static void answer_file(struct request *request, const struct page_file *file)
{
	request->content_policy = content_policy;
	if (page_tag_matches(request_client_header(request, MHD_HTTP_HEADER_IF_NONE_MATCH),
	                     file->tag)) {
		request_answer_constant(request, MHD_HTTP_NOT_MODIFIED, file->type, NULL, 0);
	} else if (page_takes_gzip(
			   request_client_header(request, MHD_HTTP_HEADER_ACCEPT_ENCODING))) {
		request_answer_constant(request, MHD_HTTP_OK, file->type, file->gzipped,
		                        file->gzipped_len);
		request_header(request, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
	} else {
		answer_inflated(request, file);
	}
	request_header(request, MHD_HTTP_HEADER_ETAG, file->tag);
	request_header(request, MHD_HTTP_HEADER_VARY, "Accept, Accept-Encoding");
}

void page_answer(struct request *request, const char *path)
{
	const struct page_file *file = page_find(path);
	struct refusal refusal;

	if (file) {
		answer_file(request, file);
		return;
	}
	refuse(&refusal, MHD_HTTP_NOT_FOUND,
	       "there is no page %.100s; GET / answers with the start page", request->path);
	request_refuse(request, &refusal);
}

void handle_page_file(struct request *request)
{
	page_answer(request, request->path + strlen(files_prefix));
}

/* The pages name each other relative to the folder. */
void handle_manual_folder(struct request *request)
{
	static const char text[] = "the manual pages are at /help/\n";

	request_answer_constant(request, MHD_HTTP_MOVED_PERMANENTLY, "text/plain; charset=utf-8",
	                        text, strlen(text));
	request_header(request, MHD_HTTP_HEADER_LOCATION, "help/");
}

/* Paths below / as they are in the table: web/help.sh makes those files. */
void handle_manual(struct request *request)
{
	const char *path = request->path + 1;

	page_answer(request, strcmp(path, "help/") != 0 ? path : "help/index.html");
}
