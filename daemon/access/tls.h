/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct tls - certificate, key, versions and rules on client certificates for connections that
 * begin from now on. Each connection keeps the struct tls that it began with, so a new one can
 * replace it without ending connections. Reference counted; loop thread only.
 */
#pragma once

#include "access/web_config.h"
#include "base/cleanup.h"

#include <gnutls/gnutls.h>

struct tls;

/* Made from tls_server_config; relative paths are relative to `folder`. -EINVAL with `why`, which
 * begins with the line number; -ENOMEM. */
int tls_new(const struct web_config *config, const char *folder, struct tls **ret_tls,
            char ret_why[WEB_WHY_BYTES]);
struct tls *tls_ref(struct tls *tls);
void tls_unref(struct tls *tls); /* takes NULL */
DEFINE_CLEANUP(struct tls *, tls_unref)

/* Prepares a server's session before its handshake. `tls` must outlive the session. A client
 * certificate that is wrong, or missing where one is required, ends the handshake. */
int tls_begin(struct tls *tls, gnutls_session_t session);

/* Whether the client of a session may go on after the handshake, by its certificates: 1: a verified
 * certificate authenticates it; 0: it may go on unauthenticated; -EACCES. The certificates are
 * verified again when the session began with another `tls`. */
int tls_check_client(struct tls *tls, gnutls_session_t session);
