/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Admission: whether a request is served, and whether its client may have what is restricted to
 * some clients. Each function returns 0, or -EINVAL with a refusal that names the setting that
 * admits more clients; the request's statistics count the refusal. Loop thread only.
 */
#pragma once

#include "http/request.h"

/* Called first: whether this client is served at all, by its user and by the name under which it
 * addresses this host. A client with credentials needs neither. */
int admit_request(struct request *request, struct refusal *ret_refusal);
/* For what is restricted to users of this host and clients with credentials; `what` names it in the
 * refusal. */
int admit_private(struct request *request, const char *what, struct refusal *ret_refusal);
/* For requests that act on a process instead of only showing it: the same check, and on-demand must
 * be set. */
int admit_attaching(struct request *request, struct refusal *ret_refusal);
/* A further check that applies while no group is configured: admits root, clients with credentials,
 * and the user who alone owns the process. `ret_owner`: the user who must still own the process
 * when probes are put into it; OWNER_UNKNOWN: any user may. */
int admit_attaching_to(struct request *request, uint32_t pid, uint32_t *ret_owner,
                       struct refusal *ret_refusal);
/* The user whose permissions decide which files in root folders of other users' processes are
 * shown: a user of this host while no group is configured; 0 for any other client that is served,
 * which sees every file there that everybody may read. */
uint32_t admit_viewer(struct request *request);
/* Refuses requests that another web page causes: such a page cannot read the answer, but the
 * request itself may be what it wants. */
int admit_same_site(struct request *request, struct refusal *ret_refusal);
