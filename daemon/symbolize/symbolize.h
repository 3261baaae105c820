/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct symbolizer - gives every location of a profile its function's name. Lives on the render
 * lane: one thread at a time, its caches have no lock. A file's address asks its object's symbols,
 * a kernel address asks kallsyms; where nothing covers an address the name is honest about it:
 * `[libfoo.so+0x1a2b]`,
 * `[kernel+0x...]`, or the pseudo mapping's own name.
 */
#pragma once

#include "object/store.h"
#include "profile/builder.h"

struct symbolizer;

/* The store must outlive it. NULL when out of memory. */
struct symbolizer *symbolizer_new(struct store *store);
void symbolizer_free(struct symbolizer *symbolizer);
DEFINE_CLEANUP(struct symbolizer *, symbolizer_free)

/* Names every location of `builder` that has no line yet. Frames of kernel modules move to a
 * mapping of the module's name in brackets, those of BPF programs to [bpf]. 0 or -ENOMEM: a name
 * that cannot be found is no error. */
int symbolizer_run(struct symbolizer *symbolizer, struct builder *builder);
