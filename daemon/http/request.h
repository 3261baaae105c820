/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct request - one HTTP request, from its first line to its last byte sent. It belongs to the
 * server. A handler answers it, or parks it on behalf of an owner who answers later; while it is
 * parked libmicrohttpd does not look at the connection, so its end is watched for here
 * (http/hangup.h). Loop thread only.
 */
#pragma once

#include "base/buf.h"
#include "http/query.h"
#include "http/service.h"

#include <microhttpd.h>

/* The parked requests of one server. */
struct parking {
	/* Tells the server that a request was resumed: libmicrohttpd looks only when it is run. */
	void (*resumed)(struct parking *parking);
	struct request *first;
	size_t count;
};

struct request {
	const struct service *service;
	struct parking *parking;
	struct MHD_Connection *connection;
	char *path;            /* as sent, cut at the question mark */
	const char *raw_query; /* what stood behind it; "" */
	struct query query;
	bool started;   /* headers are complete */
	bool head;      /* HEAD: the body is not sent */
	bool suspended; /* the server will ask again */

	struct MHD_Response *response; /* NULL until answered */
	unsigned int status;

	/* While parked. */
	void *owner;
	void (*abandon)(void *owner); /* forget the request, it is about to be answered or freed */
	struct hangup *hangup;
	struct request *next, *prev;
};

struct request *request_new(const struct service *service, struct parking *parking,
                            struct MHD_Connection *connection, const char *uri);
void request_free(struct request *request);

/* Answers; a parked request is resumed. Both take the body's bytes over. */
void request_answer(struct request *request, const char *content_type, struct buf *body);
void request_refuse(struct request *request, const struct refusal *refusal);
/* The usual failure that is not the client's: out of memory, queue full. */
void request_fail(struct request *request, int err);
/* Answers with bytes that outlive the server, and that a client may keep while their tag holds. */
void request_answer_constant(struct request *request, unsigned int status, const char *content_type,
                             const void *bytes, size_t len);
/* 200 without a body, for a HEAD request whose body would be dear to make. */
void request_answer_head(struct request *request, const char *content_type);
/* Adds a header to the answer. */
void request_header(struct request *request, const char *name, const char *value);

/* Parks the request. -EAGAIN when MAX_PARKED_REQUESTS are. */
int request_park(struct request *request, void *owner, void (*abandon)(void *owner));
/* Answers every parked request with 503. */
void parking_clear(struct parking *parking);
