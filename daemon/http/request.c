/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Requests: their answers' common headers, and parking.
 */
#include "http/request.h"

#include "http/hangup.h"

#include <errno.h>
#include <string.h>

static const char plain_text[] = "text/plain; charset=utf-8";

struct request *request_new(const struct service *service, struct parking *parking,
                            struct MHD_Connection *connection, const char *uri)
{
	struct request *request = calloc(1, sizeof(*request));
	char *question;

	if (!request)
		return NULL;
	request->path = strdup(uri);
	if (!request->path) {
		free(request);
		return NULL;
	}
	request->service = service;
	request->parking = parking;
	request->connection = connection;
	request->raw_query = "";
	question = strchr(request->path, '?');
	if (question) {
		*question = '\0';
		request->raw_query = question + 1;
	}
	return request;
}

static void unlink_parked(struct request *request)
{
	struct parking *parking = request->parking;

	if (request->prev)
		request->prev->next = request->next;
	else
		parking->first = request->next;
	if (request->next)
		request->next->prev = request->prev;
	request->next = request->prev = NULL;
	request->owner = NULL;
	hangup_stop(request->hangup);
	request->hangup = NULL;
	parking->count--;
}

void request_free(struct request *request)
{
	if (!request)
		return;
	if (request->owner) {
		request->abandon(request->owner);
		unlink_parked(request);
	}
	if (request->response)
		MHD_destroy_response(request->response);
	query_release(&request->query);
	free(request->path);
	free(request);
}

/* Nobody reads the answer: it only takes the connection back to libmicrohttpd, which closes it. */
static void on_hangup(void *ctx)
{
	struct request *request = ctx;

	request->abandon(request->owner);
	request_fail(request, -ECONNRESET);
}

static void watch_hangup(struct request *request)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	if (info)
		request->hangup =
			hangup_watch(request->service->loop, info->connect_fd, on_hangup, request);
}

int request_park(struct request *request, void *owner, void (*abandon)(void *owner))
{
	struct parking *parking = request->parking;

	if (parking->count >= MAX_PARKED_REQUESTS)
		return -EAGAIN;
	MHD_suspend_connection(request->connection);
	request->suspended = true;
	request->owner = owner;
	request->abandon = abandon;
	request->next = parking->first;
	if (parking->first)
		parking->first->prev = request;
	parking->first = request;
	parking->count++;
	watch_hangup(request);
	return 0;
}

/* Also without a response, for lack of memory: the server then closes the connection. */
static void respond(struct request *request, unsigned int status, struct MHD_Response *response,
                    const char *content_type, const char *cache)
{
	request->status = status;
	request->response = response;
	request_header(request, MHD_HTTP_HEADER_CONTENT_TYPE, content_type);
	request_header(request, "X-Content-Type-Options", "nosniff");
	request_header(request, MHD_HTTP_HEADER_CACHE_CONTROL, cache);
	if (request->owner) {
		unlink_parked(request);
		MHD_resume_connection(request->connection);
		request->parking->resumed(request->parking);
	}
}

void request_header(struct request *request, const char *name, const char *value)
{
	if (request->response)
		MHD_add_response_header(request->response, name, value);
}

static struct MHD_Response *response_of(struct buf *body)
{
	struct MHD_Response *response = NULL;

	if (!buf_error(body))
		response = MHD_create_response_from_buffer(body->len, body->data,
		                                           MHD_RESPMEM_MUST_FREE);
	if (response)
		*body = BUF_INIT;
	else
		buf_release(body);
	return response;
}

void request_answer(struct request *request, const char *content_type, struct buf *body)
{
	respond(request, MHD_HTTP_OK, response_of(body), content_type, "no-store");
}

void request_answer_constant(struct request *request, unsigned int status, const char *content_type,
                             const void *bytes, size_t len)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		len, (void *)(uintptr_t)bytes, MHD_RESPMEM_PERSISTENT);

	respond(request, status, response, content_type, "no-cache");
}

/* libmicrohttpd wants a reader for a body of unknown length, and does not call it for HEAD. */
static ssize_t read_nothing(void *ctx, uint64_t at, char *bytes, size_t max)
{
	(void)ctx, (void)at, (void)bytes, (void)max;
	return MHD_CONTENT_READER_END_OF_STREAM;
}

void request_answer_head(struct request *request, const char *content_type)
{
	struct MHD_Response *response =
		MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 1024, read_nothing, NULL, NULL);

	respond(request, MHD_HTTP_OK, response, content_type, "no-store");
}

void request_refuse(struct request *request, const struct refusal *refusal)
{
	struct buf body = BUF_INIT;

	buf_printf(&body, "%s\n", refusal->text);
	respond(request, refusal->status, response_of(&body), plain_text, "no-store");
	/* go tool pprof shows an error's text only when it sees this. */
	request_header(request, "X-Go-Pprof", "1");
	if (refusal->status == MHD_HTTP_SERVICE_UNAVAILABLE)
		request_header(request, MHD_HTTP_HEADER_RETRY_AFTER, "1");
}

void request_fail(struct request *request, int err)
{
	struct refusal refusal;

	if (err == -EAGAIN)
		refuse(&refusal, MHD_HTTP_SERVICE_UNAVAILABLE,
		       "too many profiles are being made; at most %d at a time, try again",
		       MAX_PARKED_REQUESTS);
	else if (err == -ENOMEM)
		refuse(&refusal, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory; try again");
	else
		refuse(&refusal, MHD_HTTP_INTERNAL_SERVER_ERROR, "failed: %s", strerror(-err));
	request_refuse(request, &refusal);
}

void parking_clear(struct parking *parking)
{
	struct refusal refusal;

	refuse(&refusal, MHD_HTTP_SERVICE_UNAVAILABLE, "profd is stopping");
	while (parking->first) {
		struct request *request = parking->first;

		request->abandon(request->owner);
		request_refuse(request, &refusal);
	}
}
