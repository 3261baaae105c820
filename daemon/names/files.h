/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct names_files - the files that the reader process has open. What was read of them is kept
 * for the next request, as long as there are not too many and they do not hold too much: those that
 * were used longest ago go first. One thread.
 */
#pragma once

#include "base/cleanup.h"
#include "names/named_file.h"

#include <stdint.h>

struct names_files;

/* NULL when out of memory. */
struct names_files *names_files_new(uint64_t max_bytes);
void names_files_free(struct names_files *files);
DEFINE_CLEANUP(struct names_files *, names_files_free)

/* The file of that number, opened when it is not yet. Takes over the descriptors, on failure too.
 * It lives until the next call. -ENOEXEC, -ENOMEM, as named_file_open(). */
int names_files_get(struct names_files *files, uint64_t number, const int fds[FILE_COUNT],
                    struct named_file **ret_file);
/* All files stay open, but what can be read again is given back. */
void names_files_forget(struct names_files *files);
/* Closes all files but that one; whether there were any. */
bool names_files_keep_only(struct names_files *files, uint64_t number);
