/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Where CPython 3.14 and later have the tasks of asyncio: what the file that contains the module
 * _asyncio says in its section .AsyncioDebug (struct _Py_AsyncioModuleDebugOffsets,
 * Modules/_asynciomodule.c). That is a library of its own, or the file with CPython. No state; any
 * thread.
 */
#pragma once

#include "cpython/python_tasks.h"
#include "elf/elf.h"

/* -ENOENT when the file has no such section, -EBADMSG when its contents make no sense, -ENOMEM. */
int python_asyncio_read(const struct elf *elf, struct python_asyncio *ret_asyncio);
/* Whether all offsets are there. */
bool python_asyncio_is_sound(const struct python_asyncio *asyncio);
