/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The running kernel's types, as far as our programs name them. Libbpf looks for each type that a
 * program reads among all of the kernel's, anew for each part of the kernel half: 130,000 of them
 * take it 25 ms a part. Of those that are named here, with what they hold, there are some hundred.
 *
 * As bpftool's `gen min_core_btf` does: types have other numbers here than in the kernel, so
 * programs cannot ask for the number of a type.
 */
#pragma once

struct btf;

/* Writes them into a file as raw BTF. `ours` is of the object with all programs. 0 or a negative
 * errno. Any thread. */
int bpf_types_write(const struct btf *ours, const char *kernel_file, int fd);
