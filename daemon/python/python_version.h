/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Finds the version of the CPython in a file, as in sys.hexversion. Any thread.
 */
#pragma once

#include "elf/elf.h"

/* Whether it is a release of a minor version (0x030b), or a release candidate. Earlier builds may
 * have other layouts. */
bool python_is_release(uint64_t hex, uint32_t minor);
/* Finds the minor version: from the variable Py_Version at that address or, where the address is 0
 * (before 3.11), from the name that the interpreter gives its cached bytecode. -ENOTSUP when there
 * is no such name, or several; -EBADMSG, -ENOMEM. */
int python_version_find(const struct elf *elf, uint64_t variable, uint32_t *ret_version);
