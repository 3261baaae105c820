/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The programs of gpu_kernel.h attached to the places of a file, in the best way that the kernel
 * has (collect/uprobes.h), in all processes. Functions only; on a lane, for they take long.
 */
#pragma once

#include "collect/gpu_kernel.h"
#include "collect/uprobes.h"
#include "gpu/sites.h"

/* `fd` is the very file that is mapped. On failure nothing is attached. */
int gpu_links_attach(struct uprobes *links, const struct gpu_programs *programs,
                     const struct gpu_file *file, int fd);
