/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The structures of CPython 3.8 to 3.12, which do not describe themselves. All releases of a minor
 * version have the same layout. Constant; any thread.
 */
#pragma once

#include "bpf/python.h"

/* Returns the layout of a version, with `interpreters` and `gil` relative to _PyRuntime, and
 * without loops. NULL when the version is unknown. */
const struct python_process *python_layout(uint32_t version);
