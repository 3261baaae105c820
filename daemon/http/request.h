/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct request - one HTTP request, from its first line to its last byte sent. It belongs to the
 * server. A handler answers it, or parks it on behalf of an owner who answers later; while it is
 * parked libmicrohttpd does not look at the connection, so its end is watched for here
 * (http/hangup.h). Loop thread only.
 */
#pragma once

#include "base/buf.h"
#include "http/answers.h"
#include "http/client_stats.h"
#include "http/crowd.h"
#include "http/client.h"
#include "http/query.h"
#include "http/service.h"

#include <microhttpd.h>

struct rendering;

/* The parked requests of one server, and what else they have in common. */
struct parking {
	/* Tells the server that a request was resumed: libmicrohttpd looks only when it is run. */
	void (*resumed)(struct parking *parking);
	size_t connections; /* open ones */
	struct request *first;
	size_t count;
	struct crowd crowd;      /* those under way: parked, or not sent yet */
	struct request *sending; /* their answers, of those that were parked */
	struct answers answers;
	struct rendering *renderings; /* under way, for equal requests to join */
	struct client_stats stats;
};

struct request {
	const struct service *service;
	struct parking *parking;
	struct MHD_Connection *connection;
	struct client *client; /* who has the connection */
	char *path;            /* as sent, cut at the question mark */
	char *authority;       /* of an address that was sent whole; NULL */
	const char *raw_query; /* what stood behind it; "" */
	struct query query;
	bool authenticated; /* the client has shown credentials that are accepted */
	bool counted;       /* by rate_limit */
	bool needs_host;    /* HTTP/1.1: must say which host it means */
	bool close;         /* the connection, when it is answered */
	bool started;       /* headers are complete */
	bool head;          /* HEAD: the body is not sent */
	bool suspended;     /* the server will ask again */

	struct MHD_Response *response; /* NULL until answered */
	unsigned int status;
	const char *content_policy; /* of the answer; NULL: nothing may be loaded or framed */
	bool entered;               /* into the crowd */

	/* While parked. */
	void *owner;
	void (*abandon)(void *owner); /* forget the request, it is about to be answered or freed */
	struct hangup *hangup;
	struct request *next, *prev; /* of those parked, then of those being sent */
	bool is_sending;
	uint64_t give_up_mono_ns;
};

/* NULL when out of memory. */
struct request *request_new(const struct service *service, struct parking *parking,
                            struct MHD_Connection *connection, const char *uri);
void request_free(struct request *request);

/* What the client means by us, with its port: of an address sent whole, else of Host; or NULL. */
const char *request_host(const struct request *request);
const char *request_client_header(const struct request *request, const char *name);

/* The most bytes that the answer may have: answer-memory, and for others than root their share. */
size_t request_answer_max(const struct request *request);
/* Answers; a parked request is resumed. Takes the body's bytes over. */
void request_answer(struct request *request, const char *content_type, struct buf *body);
/* The same with an answer that others get, too. */
void request_answer_shared(struct request *request, const char *content_type,
                           struct answer *answer);
void request_refuse(struct request *request, const struct refusal *refusal);
/* The usual failure: out of memory, too many of all or (-EDQUOT) of his, no room for the answer. */
void request_fail(struct request *request, int err);
/* Answers with bytes that outlive the server, and that a client may keep while their tag holds. */
void request_answer_constant(struct request *request, unsigned int status, const char *content_type,
                             const void *bytes, size_t len);
/* 200 without a body, for a HEAD request whose body would be dear to make, and has no length yet.
 * Ends the connection, as an answer to GET does whose end nothing else tells. */
void request_answer_head(struct request *request, const char *content_type);
/* Adds a header to the answer. */
void request_header(struct request *request, const char *name, const char *value);

/* Takes a parked request back from its owner without an answer: the server asks again. */
void request_go_on(struct request *request);
/* Parks the request. -EAGAIN, -EUSERS, -EDQUOT: as many are under way as there may be, or as this
 * client or this user may have; -ENOMEM. */
int request_park(struct request *request, void *owner, void (*abandon)(void *owner));
/* Answers every parked request with 503. */
void parking_clear(struct parking *parking);
void parking_get_stats(const struct parking *parking, struct client_stats *ret_stats);
/* Ends the connections of clients that take longer over an answer than there is any reason to. */
void parking_give_up(struct parking *parking, uint64_t now_mono_ns);
