/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Turns C++ and Rust names into their source form with libiberty, which is used only behind this
 * file. The input is untrusted. Its length is bounded, and libiberty limits its own recursion, but
 * libiberty was not made for malicious names. It therefore runs only in the reader process, where a
 * crash or an endless loop costs only the names of that question.
 */
#pragma once

/* Returns the readable name, which the caller frees; NULL when `name` is not a mangled name (or
 * memory is short). */
char *demangle(const char *name);
