/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct file_opener - descriptors of the very files that processes have mapped. A file is opened,
 * inspected and closed on threads that may hang (base/crew.h). The store's object is not good
 * enough for placing a probe: it may be another file that claims the same contents. A caller that
 * gets -EINPROGRESS has to ask again. Loop thread only.
 */
#pragma once

#include "base/crew.h"
#include "object/store.h"
#include "probes/file_inode.h"
#include "proc/mapping_set.h"

struct file_opener;

/* The crew, which is stopped first, and the store outlive the opener. `opened` is called when
 * callers that got -EINPROGRESS should ask again. NULL when out of memory. */
struct file_opener *file_opener_new(struct crew *crew, struct store *store,
                                    void (*opened)(void *ctx), void *ctx);
void file_opener_free(struct file_opener *opener); /* takes NULL */

/* Opens the file that the process of that user has mapped there. 0, and a descriptor for
 * file_opener_close(). -EINPROGRESS: the file is being opened. -ENOSPC: the crew's queue is full.
 * Other errors are those of reach_mapped(), and -ETIMEDOUT when the job waited too long behind one
 * that hangs; each is reported once. */
int file_opener_get(struct file_opener *opener, uint32_t pid, uint32_t owner,
                    const struct proc_mapping *mapping, int *ret_fd, struct file_inode *ret_inode);
/* Takes over the descriptor; -1 is none. The descriptor stays open when the crew has no thread to
 * close it. */
void file_opener_close(struct file_opener *opener, int *fd, uint32_t owner,
                       const struct file_inode *inode);
/* Closes files that were opened and not asked for again. Returns whether any file is still being
 * opened or kept. */
bool file_opener_sweep(struct file_opener *opener);
