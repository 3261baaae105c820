/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct kernel_names - the kernel's symbols, read on a thread of their own while their user does
 * something else: the kernel takes long to write them. All zero at first; of one thread.
 */
#pragma once

#include "object/symtab.h"

#include <pthread.h>

struct kernel_names {
	struct symtab *table; /* NULL when it could not be read, or not yet */
	int error;            /* why */
	uint64_t read_ns;     /* when it was tried; 0: never */
	struct symtab *fresh;
	pthread_t thread;
	bool begun, on_thread;
};

void kernel_names_release(struct kernel_names *names); /* reusable afterwards */
/* Begins to read them where they are old; between the two calls nothing else may be looked at. */
void kernel_names_begin(struct kernel_names *names);
void kernel_names_finish(struct kernel_names *names);
