/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Whether a request is let in: by the rate, the client's certificate, and its user's password.
 * Requests by a unix socket are, whose file mode has decided that; and so is /healthz, which those
 * ask for who have no password. Loop thread only.
 */
#pragma once

#include "http/request.h"

/* True: it is let in. Else it was answered, or is parked while its password is hashed on a lane of
 * its own; then it is asked again. */
bool entrance_pass(struct request *request);
