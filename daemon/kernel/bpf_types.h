/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The running kernel's types, restricted to those that profd's programs name. libbpf searches all
 * types of the kernel for each type that a program reads, and does so again for each part of the
 * kernel half. With 130,000 types that takes 25 ms per part. The types that profd's programs name
 * are some hundred, including those that they hold.
 *
 * This does the same as bpftool's `gen min_core_btf`. Types have other ids here than in the kernel,
 * so programs cannot ask for the id of a type.
 */
#pragma once

struct btf;

/* Writes these types to a file as raw BTF. `ours` has the types of the object with all programs. 0
 * or a negative errno. Any thread. */
int bpf_types_write(const struct btf *ours, const char *kernel_file, int fd);
