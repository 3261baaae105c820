/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The page at / and the files it is made of, as web/embed.sh has put them into the program: sent
 * compressed to who takes that, with a tag by which a browser asks whether its copy is still good.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct request;

struct page_file {
	const char *path; /* below web/ */
	const char *type;
	const char *tag; /* of the contents, as in an ETag header */
	const unsigned char *gzipped;
	size_t gzipped_len, len;
};

/* By path; ends with a NULL path. */
extern const struct page_file page_files[];

const struct page_file *page_find(const char *path); /* NULL when there is none */

/* Whether a client that sent this Accept-Encoding takes gzip. NULL: it sent none. */
bool page_takes_gzip(const char *accept_encoding);
/* Whether one of the tags of this If-None-Match is `tag`. NULL: it sent none. */
bool page_tag_matches(const char *if_none_match, const char *tag);

/* Answers with that file. */
void page_answer(struct request *request, const char *path);
