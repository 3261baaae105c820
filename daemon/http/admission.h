/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Who is answered, and who may have what not everybody may. Each is 0, or -EINVAL with a refusal
 * that says which setting lets more in; the request's statistics count it. Loop thread only.
 */
#pragma once

#include "http/request.h"

/* Before anything else: whether this client is answered at all, by its user and by the name that it
 * has for us. Credentials make both unnecessary. */
int admit_request(struct request *request, struct refusal *ret_refusal);
/* What only this host's users, and clients with credentials, may have; `what` says it. */
int admit_private(struct request *request, const char *what, struct refusal *ret_refusal);
/* What does something to a process, other than to show it: the same, where the operator allows it
 * at all. */
int admit_attaching(struct request *request, struct refusal *ret_refusal);
/* The same where no group says who may: root, clients with credentials, and whom that process
 * belongs to. `ret_owner`: whose it must be still when probes are put into it; OWNER_UNKNOWN:
 * anybody's. */
int admit_attaching_to(struct request *request, uint32_t pid, uint32_t *ret_owner,
                       struct refusal *ret_refusal);
/* Whose eyes count for files in root folders of others: a user of this host where no group says who
 * may ask, 0: whoever else is answered sees all that everybody may read in any of them. */
uint32_t admit_viewer(struct request *request);
/* Not at the wish of another web page, which cannot read the answer but need not. */
int admit_same_site(struct request *request, struct refusal *ret_refusal);
