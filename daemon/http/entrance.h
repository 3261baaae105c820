/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Authentication of a request: the rate limit, the client's certificate, and its user's password.
 * Requests over a unix socket always pass, because the socket's file mode has decided about them;
 * /healthz always passes, because the programs that request it have no password. Loop thread only.
 */
#pragma once

#include "http/request.h"

/* True: the request passes. Otherwise it was answered, or it is suspended while its password is
 * hashed on a lane of its own, and this function is called again afterwards. */
bool entrance_pass(struct request *request);
