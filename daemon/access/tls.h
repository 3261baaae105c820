/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct tls - certificate, key, versions and client certificates of the connections that begin
 * from now on. Each connection holds the one it began with, so a new one takes its place without
 * ending any. Reference counted; loop thread only.
 */
#pragma once

#include "access/web_config.h"
#include "base/cleanup.h"

#include <gnutls/gnutls.h>

struct tls;

/* From tls_server_config; relative paths are relative to `folder`. -EINVAL with `why`, which begins
 * with the line; -ENOMEM. */
int tls_new(const struct web_config *config, const char *folder, struct tls **ret_tls,
            char ret_why[WEB_WHY_BYTES]);
struct tls *tls_ref(struct tls *tls);
void tls_unref(struct tls *tls); /* takes NULL */
DEFINE_CLEANUP(struct tls *, tls_unref)

/* Prepares a server's session that has not shaken hands yet. `tls` must outlive the session. A
 * client certificate that is wrong, or missing where one must be, ends the handshake. */
int tls_begin(struct tls *tls, gnutls_session_t session);

/* Whether the client of a session that has shaken hands may go on, by the certificates it came
 * with: 1, it is known by one that was verified; 0, it may, but is not known; -EACCES. They are
 * verified again where the session began with another `tls`. */
int tls_check_client(struct tls *tls, gnutls_session_t session);
