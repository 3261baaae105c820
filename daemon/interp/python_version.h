/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which version of CPython a file has in it, as in sys.hexversion. Any thread.
 */
#pragma once

#include "object/elf.h"

/* Whether it is a release of a minor version (0x030b), or a candidate for one: what came before may
 * be laid out in other ways. */
bool python_is_release(uint64_t hex, uint32_t minor);
/* The minor version: as the variable Py_Version at that address says; where that is 0, which it is
 * before 3.11, by the name that the interpreter gives its cached bytecode. -ENOTSUP when there is
 * none, or several; -EBADMSG, -ENOMEM. */
int python_version_find(const struct elf *elf, uint64_t variable, uint32_t *ret_version);
