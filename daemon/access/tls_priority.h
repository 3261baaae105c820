/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Versions, cipher suites and curves of a web configuration, which are named as in Go, as a
 * priority of GnuTLS. Pure; any thread.
 *
 * GnuTLS takes lists of key exchanges and ciphers and combines them itself, so a list of suites is
 * accepted only if it contains all combinations of its parts: ECDHE_RSA with two ciphers, or
 * ECDHE_RSA and ECDHE_ECDSA with both. The suites of TLS 1.3 cannot be chosen in Go; here they are
 * those whose cipher is in the list.
 */
#pragma once

#include "access/web_config.h"

#include <gnutls/gnutls.h>

/* -EINVAL with `why`, which begins with the line number; -ENOMEM. The caller frees the priority
 * with gnutls_priority_deinit(). */
int tls_priority(const struct web_config *config, gnutls_priority_t *ret_priority,
                 char ret_why[WEB_WHY_BYTES]);
