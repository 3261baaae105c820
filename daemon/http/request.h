/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct request - one HTTP request, from its first line to the last byte of its answer. The server
 * owns it. A handler answers it, or suspends it (request_park()) on behalf of an owner that answers
 * later: then it is in flight until its answer is sent. libmicrohttpd does not look at the
 * connection of a suspended request, so http/hangup.h watches for its end. Loop thread only.
 */
#pragma once

#include "access/crowd.h"
#include "base/buf.h"
#include "http/answers.h"
#include "http/client.h"
#include "http/client_stats.h"
#include "http/query.h"
#include "http/service.h"

#include <microhttpd.h>

struct rendering;

/* The suspended requests of one server, and what else all its requests share. */
/* See http/kept_body.h. */
struct kept_body {
	struct buf bytes;
	uint64_t since_ns; /* when the quarter of a second began */
	unsigned int made; /* in it */
};

struct parking {
	/* Tells the server that a request was resumed: libmicrohttpd notices only when it is run.
	 */
	void (*resumed)(struct parking *parking);
	size_t connections; /* that are open */
	struct request *first;
	size_t count;
	struct crowd crowd;      /* requests in flight: suspended, or not completely sent */
	struct request *sending; /* requests whose answers are being sent */
	struct answers answers;
	struct shares_of_second loop_time; /* http/loop_time.h */
	struct rendering *renderings;      /* in progress, for equal requests to join */
	struct client_stats stats;
	struct kept_body metrics, status;
};

struct request {
	const struct service *service;
	struct parking *parking;
	struct MHD_Connection *connection;
	struct client *client; /* of the connection */
	char *path;            /* as sent, up to the question mark */
	char *authority;       /* the host of an absolute URL; or NULL */
	const char *raw_query; /* what follows the question mark; or "" */
	struct query query;
	bool authenticated; /* the client has shown accepted credentials */
	bool counted;       /* by rate_limit */
	bool needs_host;    /* HTTP/1.1: a Host header is required */
	bool close;         /* close the connection after the answer */
	bool started;       /* the headers are complete */
	bool head;          /* HEAD: the body is not sent */
	bool suspended;     /* the server will handle it again */

	struct MHD_Response *response; /* NULL until answered */
	unsigned int status;
	const char *content_policy; /* the answer's; NULL: nothing may be loaded or framed */
	bool entered;               /* counted in the crowd */

	/* While suspended. */
	void *owner;
	/* Forgets the request, which is about to be answered or freed. */
	void (*abandon)(void *owner);
	struct hangup *hangup;
	/* In the list of suspended requests, then in that of requests being sent. */
	struct request *next, *prev;
	bool is_sending;
	uint64_t give_up_mono_ns;
};

/* NULL when out of memory. */
struct request *request_new(const struct service *service, struct parking *parking,
                            struct MHD_Connection *connection, const char *uri);
void request_free(struct request *request);

/* The host and port that the client addressed: from an absolute URL, else from Host; or NULL. */
const char *request_host(const struct request *request);
const char *request_client_header(const struct request *request, const char *name);

/* The maximum size of the answer in bytes: answer-memory, and for users other than root their
 * share. */
size_t request_answer_max(const struct request *request);
/* Answers; a suspended request is resumed. Takes ownership of the body's bytes. */
void request_answer(struct request *request, const char *content_type, struct buf *body);
/* The same with an answer that is also sent to other clients. */
void request_answer_shared(struct request *request, const char *content_type,
                           struct answer *answer);
void request_refuse(struct request *request, const struct refusal *refusal);
/* Answers with a common failure: out of memory, too many requests of all clients or (-EDQUOT) of
 * this user, no room for the answer. */
void request_fail(struct request *request, int err);
/* Answers with bytes that outlive the server. A client may cache them as long as their tag is
 * current. */
void request_answer_constant(struct request *request, unsigned int status, const char *content_type,
                             const void *bytes, size_t len);
/* Answers 200 without a body, for a HEAD request whose body would be expensive to make, so that its
 * length is unknown. Ends the connection, as an answer to GET does when only that marks its end. */
void request_answer_head(struct request *request, const char *content_type);
/* Adds a header to the answer. */
void request_header(struct request *request, const char *name, const char *value);

/* Resumes a suspended request without an answer, and takes it from its owner: the server handles
 * the request again. */
void request_go_on(struct request *request);
/* Suspends the request. -EAGAIN, -EUSERS, -EDQUOT: the limit on requests in flight is reached, that
 * of all clients, of this client or of this user; -ENOMEM. */
int request_park(struct request *request, void *owner, void (*abandon)(void *owner));
/* Answers every suspended request with 503. */
void parking_clear(struct parking *parking);
void parking_get_stats(const struct parking *parking, struct client_stats *ret_stats);
/* Ends the connections of clients that take longer to receive an answer than a slow line explains.
 */
void parking_give_up(struct parking *parking, uint64_t now_mono_ns);
