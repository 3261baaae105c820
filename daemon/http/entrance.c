/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * 401: the client may try again with a password; 403: the certificate is no longer accepted; 429
 * and 503: the client may try again later.
 */
#include "http/entrance.h"

#include "base/clock.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

static const char open_path[] = "/healthz";
static const char challenge[] = "Basic realm=\"profd\", charset=\"UTF-8\"";

/* A password check on the lane. */
struct login {
	struct turn turn;
	struct password_check check;
	struct access *access;
	struct request *request; /* NULL once the request is abandoned */
	atomic_bool abandoned;   /* the same, read by the worker */
	int error;
};

static bool refuse_with(struct request *request, unsigned int status, const char *why)
{
	struct refusal refusal;

	refuse(&refusal, status, "%s", why);
	request_refuse(request, &refusal);
	if (status == MHD_HTTP_UNAUTHORIZED)
		request_header(request, MHD_HTTP_HEADER_WWW_AUTHENTICATE, challenge);
	return false;
}

/* Worker thread. */
static void run_login(struct job *job)
{
	struct login *login = (struct login *)((char *)job - offsetof(struct login, turn.job));

	if (!atomic_load(&login->abandoned))
		login->error = password_check_run(&login->check);
}

static void on_login(struct job *job)
{
	struct login *login = (struct login *)((char *)job - offsetof(struct login, turn.job));

	if (!login->error) {
		login->access->stats.passwords_checked++;
		passwords_tell(login->access->passwords, &login->check, clock_mono_ns());
	}
	/* The server handles the request again, and then finds the result of the check. */
	if (login->request && !login->error)
		request_go_on(login->request);
	else if (login->request)
		request_fail(login->request, login->error);
	explicit_bzero(login, sizeof(*login));
	free(login);
}

static void on_abandoned(void *owner)
{
	struct login *login = owner;

	login->request = NULL;
	atomic_store(&login->abandoned, true);
}

static bool start_login(struct request *request, const struct password_check *check)
{
	const struct service *service = request->service;
	struct login *login = calloc(1, sizeof(*login));
	int err = login ? request_park(request, login, on_abandoned) : -ENOMEM;

	if (err) {
		free(login);
		request_fail(request, err);
		return false;
	}
	login->turn.job = (struct job){.run = run_login, .done = on_login};
	login->turn.account = client_account(request->client);
	login->check = *check;
	login->access = service->access;
	login->request = request;
	login->error = -ECANCELED;
	err = lane_submit_turn(service->passwords, &login->turn);
	if (!err)
		return false;
	explicit_bzero(login, sizeof(*login));
	free(login);
	service->access->stats.passwords_shed++;
	return refuse_with(
		request, MHD_HTTP_SERVICE_UNAVAILABLE,
		err == -EDQUOT ? "this client has used up its share of password checks; try again"
			       : "too many passwords are being checked; try again");
}

static bool check_user(struct request *request)
{
	struct access *access = request->service->access;
	struct password_check check;
	enum password_answer answer;
	char *user, *password = NULL;

	user = MHD_basic_auth_get_username_password(request->connection, &password);
	if (!user || !password) {
		MHD_free(user);
		access->stats.passwords_missing++;
		return refuse_with(
			request, MHD_HTTP_UNAUTHORIZED,
			"this request needs a user and a password (basic authentication)");
	}
	answer = passwords_ask(access->passwords, &access->config, user, password, clock_mono_ns(),
	                       &check);
	explicit_bzero(password, strlen(password));
	MHD_free(user);
	MHD_free(password);
	switch (answer) {
	case PASSWORD_RIGHT:
		request->authenticated = true;
		break;
	case PASSWORD_WRONG:
		access->stats.passwords_wrong++;
		refuse_with(request, MHD_HTTP_UNAUTHORIZED, "wrong user or password");
		break;
	case PASSWORD_TO_CHECK:
		start_login(request, &check);
		break;
	}
	explicit_bzero(&check, sizeof(check));
	return answer == PASSWORD_RIGHT;
}

/* The connection may have begun under rules that have been replaced since. */
static int check_certificate(struct request *request)
{
	const union MHD_ConnectionInfo *session;
	struct tls *tls = request->service->access->tls;

	if (!tls)
		return 0;
	session = MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	if (!session || !session->tls_session)
		return -EACCES;
	return tls_check_client(tls, session->tls_session);
}

bool entrance_pass(struct request *request)
{
	struct access *access = request->service->access;
	int known;

	if (request->client->peer.kind == PEER_UNIX || !strcmp(request->path, open_path))
		return true;
	if (!request->counted && !access_pays(access, clock_mono_ns())) {
		access->stats.requests_limited++;
		return refuse_with(request, MHD_HTTP_TOO_MANY_REQUESTS,
		                   "all clients together exceed rate_limit of the web-config; try "
		                   "again later");
	}
	request->counted = true;
	known = check_certificate(request);
	if (known < 0) {
		access->stats.certificates_refused++;
		return refuse_with(request, MHD_HTTP_FORBIDDEN,
		                   "the client certificate is not accepted");
	}
	request->authenticated = known;
	return !access->config.user_count || check_user(request);
}
