/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Versions, cipher suites and curves of a web configuration, which have the names that Go gives
 * them, as a priority of GnuTLS. Pure; any thread.
 *
 * GnuTLS is told of key exchanges and ciphers and combines them itself, so a list of suites is
 * accepted only if it has all combinations of what is in it: ECDHE_RSA with two ciphers, or
 * ECDHE_RSA and ECDHE_ECDSA with both. The suites of TLS 1.3 cannot be chosen in Go, and here are
 * those whose cipher is in the list.
 */
#pragma once

#include "access/web_config.h"

#include <gnutls/gnutls.h>

/* -EINVAL with `why`, which begins with the line; -ENOMEM. To be freed with
 * gnutls_priority_deinit(). */
int tls_priority(const struct web_config *config, gnutls_priority_t *ret_priority,
                 char ret_why[WEB_WHY_BYTES]);
