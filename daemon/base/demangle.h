/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * C++ and Rust names as people write them. Input is untrusted: its length is bounded and recursion
 * is libiberty's own, limited one.
 */
#pragma once

/* The readable name, to be freed; NULL when `name` is no mangled name (or memory is out). */
char *demangle(const char *name);
