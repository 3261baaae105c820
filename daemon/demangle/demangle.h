/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * C++ and Rust names as people write them, by libiberty, which is used behind this file only. Input
 * is untrusted: its length is bounded, recursion is libiberty's own, limited one; but it was not
 * made for names that mean harm, so it runs in the reader process only, where a crash or an endless
 * loop costs the names it was asked about and nothing else.
 */
#pragma once

/* The readable name, to be freed; NULL when `name` is no mangled name (or memory is out). */
char *demangle(const char *name);
