/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Scope-bound ownership: a local variable declared with one of these macros releases what it holds
 * on every exit from its block, so no function needs a ladder of gotos. TAKE_PTR and TAKE_FD pass
 * ownership on.
 */
#pragma once

#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(fn)   __attribute__((cleanup(fn)))
#define _cleanup_free_  _cleanup_(freep)
#define _cleanup_close_ _cleanup_(closep)

#define TAKE_PTR(ptr)                           \
	({                                      \
		__typeof__(ptr) _taken = (ptr); \
		(ptr) = NULL;                   \
		_taken;                         \
	})

#define TAKE_FD(fd)                \
	({                         \
		int _taken = (fd); \
		(fd) = -1;         \
		_taken;            \
	})

/* Makes NAMEp(), the form that _cleanup_ wants, from a destructor NAME() that takes NULL. */
#define DEFINE_CLEANUP(type, destructor)              \
	static inline void destructor##p(type *value) \
	{                                             \
		destructor(*value);                   \
	}

static inline void freep(void *ptr)
{
	free(*(void **)ptr);
}

static inline void closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}
