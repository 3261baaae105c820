/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Attaches the programs of kernel/gpu_kernel.h to the places of a file, in all processes, in the
 * best way that the kernel has (kernel/uprobes.h). Functions only; on a lane, because they take
 * long.
 */
#pragma once

#include "cuda/sites.h"
#include "kernel/gpu_kernel.h"
#include "kernel/uprobes.h"

/* `fd` is the very file that processes map. On failure nothing is attached. */
int gpu_links_attach(struct uprobes *links, const struct gpu_programs *programs,
                     const struct gpu_file *file, int fd);
