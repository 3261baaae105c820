/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Shared libraries of this host, for tests that look into real ones.
 */
#pragma once

#include "object/elf.h"

/* NULL when the host has no library of that file name. The descriptor stays open with it. */
struct elf *library_open(const char *name);
