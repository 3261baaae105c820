/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct file_opener - descriptors of the very files that processes have mapped, opened, looked at
 * and closed on threads that may hang (base/crew.h). The store's object does not do where a probe
 * is put into a file: it may be another file that says it has the same contents. Who asks has to
 * ask again. Loop thread only.
 */
#pragma once

#include "base/crew.h"
#include "collect/file_inode.h"
#include "object/store.h"
#include "proc/mapping_set.h"

struct file_opener;

/* The crew, which is stopped first, and the store outlive it. `opened` is told when who was told
 * -EINPROGRESS shall ask again. NULL when out of memory. */
struct file_opener *file_opener_new(struct crew *crew, struct store *store,
                                    void (*opened)(void *ctx), void *ctx);
void file_opener_free(struct file_opener *opener); /* takes NULL */

/* What the process of that user has mapped there: 0, and a descriptor for file_opener_close().
 * -EINPROGRESS: it is being opened. -ENOSPC: too much waits already. Other errors as of
 * reach_mapped(), and -ETIMEDOUT: too long behind one that hangs; they are told once. */
int file_opener_get(struct file_opener *opener, uint32_t pid, uint32_t owner,
                    const struct proc_mapping *mapping, int *ret_fd, struct file_inode *ret_inode);
/* Takes over the descriptor; -1 is none. Stays open where there is no thread to close it. */
void file_opener_close(struct file_opener *opener, int *fd, uint32_t owner,
                       const struct file_inode *inode);
/* Closes what was opened and not asked for again. Is there more that may be some day? */
bool file_opener_sweep(struct file_opener *opener);
