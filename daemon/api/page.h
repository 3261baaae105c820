/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The page at / and its files, which web/embed.sh embeds in the program. They are sent compressed
 * to clients that accept that, with a tag by which a browser can check that its copy is current.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct request;

struct page_file {
	const char *path; /* below web/ */
	const char *type;
	const char *tag; /* of the contents, for an ETag header */
	const unsigned char *gzipped;
	size_t gzipped_len, len;
};

/* Ends with a NULL path. */
extern const struct page_file page_files[];

const struct page_file *page_find(const char *path); /* NULL when there is none */

/* Whether a client that sent this Accept-Encoding accepts gzip. NULL: it sent none. */
bool page_takes_gzip(const char *accept_encoding);
/* Whether one of the tags of this If-None-Match is `tag`. NULL: the client sent none. */
bool page_tag_matches(const char *if_none_match, const char *tag);

/* Answers with the file at `path`. */
void page_answer(struct request *request, const char *path);
