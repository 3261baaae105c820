/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The structures of CPython 3.8 to 3.12, which do not describe themselves. A minor version's are
 * the same in all its releases. Constant; any thread.
 */
#pragma once

#include "bpf/python.h"

/* With `interpreters` and `gil` counted from _PyRuntime, and without loops. NULL when there is none
 * for that version. */
const struct python_process *python_layout(uint32_t version);
