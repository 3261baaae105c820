/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct usdt_files - which executables and libraries have static probes that profd listens to, and
 * where. A reader process reads each file once (object/file_answers.h). Loop thread only.
 */
#pragma once

#include "base/cleanup.h"
#include "base/lane.h"
#include "object/store.h"
#include "probes/usdt_file.h"
#include "reader/reader.h"

#include <stdbool.h>

struct usdt_files;

/* The lane, its reader and the store outlive struct usdt_files. `fn` is called after probes were
 * found in a file, and when a file that there was no room to search may be searched now. */
typedef void usdt_found_fn(void *ctx);
struct usdt_files *usdt_files_new(struct lane *lane, struct reader *reader, struct store *store,
                                  usdt_found_fn *fn, void *ctx);
void usdt_files_free(struct usdt_files *files); /* once the lane is idle; takes NULL */
DEFINE_CLEANUP(struct usdt_files *, usdt_files_free)

/* The probes of an object, by its id in the store. NULL when it has none, or, with *ret_pending,
 * when that is not known yet; the search for them has then started. */
const struct usdt_file *usdt_files_get(struct usdt_files *files, uint32_t id, bool *ret_pending);
uint64_t usdt_files_put_off(const struct usdt_files *files); /* for lack of room */
