/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct symbolizer - gives every location of a profile its functions' names, source files and
 * lines. Belongs to the render lane: its caches have no lock, and one thread uses it at a time. The
 * reader process reads files; names of kernel addresses come from kallsyms. An address without a
 * name gets a placeholder: `libfoo.so!sub_1a2b` when only the function's bounds are known,
 * `[libfoo.so+0x1a2b]`, `[kernel+0x...]`, or the pseudo mapping's name.
 */
#pragma once

#include "jit/jit.h"
#include "names/client.h"
#include "object/store.h"
#include "profile/builder.h"
#include "fetch/fetch.h"
#include "symbolize/source_text.h"

struct symbolizer;

struct symbolizer_config {
	struct store *store; /* must outlive the symbolizer */
	struct fetch *fetch; /* likewise; NULL: no debuginfod servers */
	struct jit *jit;     /* likewise; NULL: generated code has no names but those in slices */
	const char *program; /* program of the reader process, see names_client_new() */
	uint64_t max_bytes;  /* of the caches and the reader process together */
};

struct symbolizer_stats {
	uint64_t known_files, known_bytes;
	struct names_stats names;
};

/* NULL when out of memory. */
struct symbolizer *symbolizer_new(const struct symbolizer_config *config);
void symbolizer_free(struct symbolizer *symbolizer);
DEFINE_CLEANUP(struct symbolizer *, symbolizer_free)

/* Names every location of `builder` that has no line yet, and remembers the source files of those
 * that have. Moves frames of kernel modules to a mapping with the module's name in brackets, and
 * those of BPF programs to [bpf]. 0 or -ENOMEM: a name that cannot be found is not an error. */
int symbolizer_run(struct symbolizer *symbolizer, struct builder *builder);
/* Whether a profile that was symbolized so far names this source file, and in which root folder the
 * file is. For interpreted code `container` selects the file, as in told_files_find(). Files of
 * processes that see the host's files come first. False also when the root folder is gone. */
bool symbolizer_knows_file(struct symbolizer *symbolizer, const char *file, const char *container,
                           struct source_root *ret_root);
/* Opens the files of users, on the thread that calls symbolizer_run(). */
struct aside *symbolizer_aside(struct symbolizer *symbolizer);
/* Any thread: the current run and all later ones leave out further names from files. */
void symbolizer_cancel(struct symbolizer *symbolizer);
/* Releases what is worth holding only while profiles are requested. */
void symbolizer_rest(struct symbolizer *symbolizer);
void symbolizer_get_stats(const struct symbolizer *symbolizer,
                          struct symbolizer_stats *ret_stats); /* any thread */
