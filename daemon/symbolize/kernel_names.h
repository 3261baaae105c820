/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct kernel_names - the kernel's symbols, read on a thread of their own while the caller does
 * other work, because the kernel takes long to write them. All zero at first; used by one thread.
 */
#pragma once

#include "elf/symtab.h"

#include <pthread.h>

struct kernel_names {
	struct symtab *table; /* NULL when it could not be read, or was not yet */
	int error;            /* of the last reading */
	uint64_t read_ns;     /* time of the last reading; 0: never */
	struct symtab *fresh;
	pthread_t thread;
	bool begun, on_thread;
};

void kernel_names_release(struct kernel_names *names); /* may be used again afterwards */
/* Begins to read the symbols when they are old; until kernel_names_finish() no member may be used.
 */
void kernel_names_begin(struct kernel_names *names);
void kernel_names_finish(struct kernel_names *names);
