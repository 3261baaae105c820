/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Shared by the files that implement struct probed_files: the life of one file, which is attached
 * on the lane, and detached there. Loop thread only.
 */
#pragma once

#include "probes/probed_files.h"

/* Has the file attached. */
void probed_file_start(struct probed_file *file);
/* Detaches an attached file. It is then removed, or attached again if a process maps it. */
void probed_file_let_go(struct probed_file *file);
/* Takes the file off the list, removes its users, and frees it. Not while the lane has it. */
void probed_file_remove(struct probed_file *file);
void probed_file_free(struct probed_file *file);        /* nothing but that */
bool probed_files_may_tell(struct probed_files *files); /* whether one more warning may be logged */
