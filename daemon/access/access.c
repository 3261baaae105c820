/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Combines the parts, and enforces the rule for listening beyond this host.
 */
#include "access/access.h"

#include "base/buf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Makes "FILE:LINE: ..." from "LINE: ..."; a long file name is reduced to its end. */
static int complain(char ret_why[ACCESS_WHY_BYTES], const char *path, const char *why)
{
	size_t len = strlen(path), room = 56;

	snprintf(ret_why, ACCESS_WHY_BYTES, "%s%s:%.190s", len > room ? "..." : "",
	         path + (len > room ? len - room : 0), why);
	return -EBADMSG;
}

static int load(struct access *access, char ret_why[ACCESS_WHY_BYTES])
{
	_cleanup_(buf_release) struct buf bytes = BUF_INIT;
	_cleanup_free_ char *folder = strdup(access->path);
	char why[WEB_WHY_BYTES] = "", *slash;
	int err = buf_read_file(&bytes, access->path, MAX_WEB_CONFIG_BYTES);

	if (!folder)
		return -ENOMEM;
	if (err == -ENOMEM)
		return err;
	if (err) {
		snprintf(ret_why, ACCESS_WHY_BYTES, "cannot read %.160s: %s", access->path,
		         strerror(-err));
		return -EBADMSG;
	}
	slash = strrchr(folder, '/');
	if (slash)
		*slash = '\0';
	err = web_config_read(&access->config, buf_text(&bytes), bytes.len, why);
	if (bytes.data)
		explicit_bzero(bytes.data, bytes.len);
	if (!err && access->config.tls)
		err = tls_new(&access->config, slash ? folder : ".", &access->tls, why);
	return err == -EINVAL ? complain(ret_why, access->path, why) : err;
}

int access_open(const char *path, struct access **ret_access, char ret_why[ACCESS_WHY_BYTES])
{
	_cleanup_(access_freep) struct access *access = calloc(1, sizeof(*access));
	int err = 0;

	snprintf(ret_why, ACCESS_WHY_BYTES, "cannot read the web configuration: out of memory");
	if (!access)
		return -ENOMEM;
	access->path = path ? strdup(path) : NULL;
	access->passwords = passwords_new();
	if (!access->passwords || (path && !access->path))
		return -ENOMEM;
	if (path)
		err = load(access, ret_why);
	if (!err)
		*ret_access = TAKE_PTR(access);
	return err;
}

void access_free(struct access *access)
{
	if (!access)
		return;
	web_config_release(&access->config);
	tls_unref(access->tls);
	passwords_free(access->passwords);
	free(access->path);
	free(access);
}

int access_guards(const struct access *access, const char *listener, char ret_why[ACCESS_WHY_BYTES])
{
	const struct web_config *config = &access->config;

	if (config->tls && config->numbers[WEB_client_auth_type] == CLIENT_AUTH_VERIFY)
		return 0;
	if (config->user_count && config->tls)
		return 0;
	if (config->user_count)
		snprintf(ret_why, ACCESS_WHY_BYTES,
		         "listen on %.50s: passwords would cross the network in the clear; "
		         "tls_server_config in %.50s, or --insecure, is required",
		         listener, access->path);
	else
		snprintf(ret_why, ACCESS_WHY_BYTES,
		         "listen on %.50s: other hosts would have access without credentials; a "
		         "--web-config with TLS and basic_auth_users or client_auth_type "
		         "RequireAndVerifyClientCert, or --insecure, is required",
		         listener);
	return -EBADMSG;
}

int access_replace(struct access *access, struct access *with, char ret_why[ACCESS_WHY_BYTES])
{
	_cleanup_(access_freep) struct access *old = with;
	struct web_config config = access->config;
	struct tls *tls = access->tls;

	if (!access->tls != !with->tls) {
		snprintf(ret_why, ACCESS_WHY_BYTES,
		         "%.80s: %s tls_server_config requires a restart", access->path,
		         with->tls ? "adding" : "removing");
		return -EBADMSG;
	}
	access->config = with->config;
	access->tls = with->tls;
	/* Intervals were borrowed at the old rate. */
	access->paid_ns = 0;
	old->config = config;
	old->tls = tls;
	return 0;
}

/* Each request uses one interval of time; a request that comes too early borrows one, and at most
 * `burst` may be borrowed. */
bool access_pays(struct access *access, uint64_t now_ns)
{
	uint64_t interval_ns = access->config.numbers[WEB_interval];
	uint64_t burst = access->config.numbers[WEB_burst], paid_ns = access->paid_ns;

	if (!interval_ns)
		return true;
	if (paid_ns < now_ns)
		paid_ns = now_ns;
	if ((paid_ns - now_ns + interval_ns - 1) / interval_ns >= burst)
		return false;
	access->paid_ns = paid_ns + interval_ns;
	return true;
}
