/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct functions - those that stand in some answers, by their names' addresses: in an answer each
 * string stands once. The answers outlive it. One thread.
 */
#pragma once

#include "base/buf.h"
#include "names/readable.h"

struct functions {
	struct buf names; /* const char *: ascending, none twice, once they were asked about */
	struct readable readable;
};

/* All first. 0 or -ENOMEM. */
int functions_note(struct functions *functions, const char *name);
/* Then once: readable_ask(). */
int functions_ask(struct functions *functions, struct readable_asker *asker);
/* Then what one of them is called by people; NULL: so, or nobody knows better. */
const char *functions_readable(const struct functions *functions, const char *name);
void functions_release(struct functions *functions);
