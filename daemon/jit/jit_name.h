/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the name of generated code says. Most runtimes give a function's name and nothing else;
 * others have a form of their own:
 *
 *   V8, by --perf-basic-prof   JS:*name /path/file.js:3:14   (V8: src/logging/log.cc)
 *   CPython, by -X perf        py::name:/path/file.py        (CPython: Python/perf_trampoline.c)
 *
 * In V8's form "LazyCompile", "Function", "Script" and "Eval" stand for JS as well, a mark tells
 * the compiler (one of ~ ^ + *), and the name may be empty or have spaces. Pure.
 */
#pragma once

#include "base/text.h"

struct jit_name {
	struct text function, file; /* parts of the name; `file` may be empty */
	uint32_t line;              /* in which the function begins; 0: not known */
	/* It only calls CPython's interpreter, which runs the function itself. */
	bool is_trampoline;
};

struct jit_name jit_name_split(struct text name);
