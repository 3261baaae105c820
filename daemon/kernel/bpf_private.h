/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Shared by the files that implement struct bpf: its parts (kernel/bpf_parts.h), for bpf.c, and
 * what they need of it.
 */
#pragma once

#include "kernel/bpf.h"

/* Opens the BPF object once more; NULL on failure, with errno set. Any thread. */
struct profd_bpf *bpf_open_object(const struct bpf *bpf);
/* Kernel memory of a map in bytes; 0 if the map was not made. */
u64 bpf_map_memory(const struct bpf_map *map);

/* Excludes all parts from what is loaded at the start. Call between opening and loading that. 0 or
 * a negative errno. */
int bpf_parts_defer(struct bpf *bpf);
/* Kernel memory of the maps that were made for parts, in bytes. */
u64 bpf_parts_map_bytes(const struct bpf *bpf);
/* Call when no thread loads parts any more. */
void bpf_parts_release(struct bpf *bpf);
