/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct names_files - the files that the reader process has open. The data read from them is kept
 * for the next question, within bounds of the number of files and of their memory; the least
 * recently used files are closed first. One thread.
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

/* The file with that number, which is opened if necessary. Takes over the descriptors, also on
 * failure. The result lives until the next call. -ENOEXEC, -ENOMEM, as named_file_open(). */
int names_files_get(struct names_files *files, uint64_t number, const int fds[FILE_COUNT],
                    struct named_file **ret_file);
/* Frees the data that can be read again; all files stay open. */
void names_files_forget(struct names_files *files);
/* Closes all files except that one; returns whether there were any. */
bool names_files_keep_only(struct names_files *files, uint64_t number);
