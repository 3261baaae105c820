/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct functions - the functions in a set of answers, identified by the addresses of their names,
 * because each string occurs once in an answer. The answers must outlive it. One thread.
 */
#pragma once

#include "base/buf.h"
#include "names/readable.h"

struct functions {
	struct buf names; /* const char *; sorted and unique after functions_ask() */
	struct readable readable;
};

/* First step: adds a function; to be called for all of them. 0 or -ENOMEM. */
int functions_note(struct functions *functions, const char *name);
/* Second step, once: asks for the readable names; errors as readable_ask(). */
int functions_ask(struct functions *functions, struct readable_asker *asker);
/* Afterwards: the readable form of a name; NULL: the name is readable, or no other is known. */
const char *functions_readable(const struct functions *functions, const char *name);
void functions_release(struct functions *functions);
