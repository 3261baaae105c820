/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Shared libraries of this host, for tests that read real ones.
 */
#pragma once

#include "elf/elf.h"

/* NULL when the host has no library with that file name. The descriptor stays open as long as the
 * elf. */
struct elf *library_open(const char *name);
