/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct symbolizer - gives every location of a profile its functions' names, source files and
 * lines. Lives on the render lane: one thread at a time, its caches have no lock. Files are read by
 * the reader process; a kernel address asks kallsyms; where nothing covers an address the name is
 * honest about it: `libfoo.so!sub_1a2b` where only the function's bounds are known,
 * `[libfoo.so+0x1a2b]`,
 * `[kernel+0x...]`, or the pseudo mapping's own name.
 */
#pragma once

#include "names/client.h"
#include "object/store.h"
#include "profile/builder.h"
#include "fetch/fetch.h"
#include "symbolize/source_text.h"

struct symbolizer;

struct symbolizer_config {
	struct store *store; /* must outlive it */
	struct fetch *fetch; /* likewise; NULL: no debuginfod servers */
	const char *program; /* that becomes the reader process, see names_client_new() */
	uint64_t max_bytes;  /* of what is kept here, and of the reader process, together */
};

struct symbolizer_stats {
	uint64_t known_files, known_bytes;
	struct names_stats names;
};

/* NULL when out of memory. */
struct symbolizer *symbolizer_new(const struct symbolizer_config *config);
void symbolizer_free(struct symbolizer *symbolizer);
DEFINE_CLEANUP(struct symbolizer *, symbolizer_free)

/* Names every location of `builder` that has no line yet, and remembers the files of those that
 * have. Frames of kernel modules move to a mapping of the module's name in brackets, those of BPF
 * programs to [bpf]. 0 or -ENOMEM: a name that cannot be found is no error. */
int symbolizer_run(struct symbolizer *symbolizer, struct builder *builder);
/* Whether a profile named by it so far has this source file, and in whose root folder it is to be
 * looked for: of what interpreters run that of a container, as told_files_find() has it; of what is
 * run where paths lead as on the host before all others. false when that folder is gone, too. */
bool symbolizer_knows_file(struct symbolizer *symbolizer, const char *file, const char *container,
                           struct source_root *ret_root);
/* Any thread: the run under way, and all later ones, go without the names of files from here on. */
void symbolizer_cancel(struct symbolizer *symbolizer);
/* Gives back what is only worth holding while profiles are asked for. */
void symbolizer_rest(struct symbolizer *symbolizer);
void symbolizer_get_stats(const struct symbolizer *symbolizer,
                          struct symbolizer_stats *ret_stats); /* any thread */
